// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "core/services/endpoint_service.h"

class QLabel;
class QPushButton;
class QTableView;

namespace swage::ui {

class Dialogs;
class EmptyState;
class EndpointTableModel;
class SettingsStore;

// The list of language models in the settings: which there are, which take part in searches; add, edit, remove, test.
class EndpointsEditor final : public QWidget {
  Q_OBJECT

 public:
  // All of them outlive this.
  EndpointsEditor(services::EndpointService& endpoints, SettingsStore& settings, Dialogs& dialogs,
                  QWidget* parent = nullptr);

 private:
  [[nodiscard]] QWidget* makeButtons();
  void reload();
  void edit(const services::EndpointSettings& endpoint);
  void remove();
  void test();
  void showButtons();
  [[nodiscard]] const services::EndpointSettings* current() const;

  services::EndpointService& m_endpoints;
  SettingsStore& m_settings;
  Dialogs& m_dialogs;
  EndpointTableModel* m_model;
  QTableView* m_table;
  EmptyState* m_tableOrEmpty;
  QPushButton* m_add;
  QPushButton* m_edit;
  QPushButton* m_remove;
  QPushButton* m_test;
  QLabel* m_status;
};

}  // namespace swage::ui
