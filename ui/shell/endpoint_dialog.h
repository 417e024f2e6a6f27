// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDialog>

#include "core/services/endpoint_service.h"

class QCheckBox;
class QComboBox;
class QDoubleSpinBox;
class QFormLayout;
class QLabel;
class QLineEdit;
class QPushButton;
class QSpinBox;

namespace swage::ui {

class Dialogs;

// One language model: how it is reached, where its key is, what it costs. Says at once what keeps it from being saved,
// and tests what is typed. The key itself has no field.
class EndpointDialog final : public QDialog {
  Q_OBJECT

 public:
  // `endpoint` without a name: a new one.
  EndpointDialog(services::EndpointService& endpoints, Dialogs& dialogs, services::EndpointSettings endpoint,
                 QWidget* parent);
  [[nodiscard]] services::EndpointSettings typed() const;

 Q_SIGNALS:
  void saved();

 private:
  void addFields(QFormLayout& form);
  [[nodiscard]] QWidget* makeKeyField();
  [[nodiscard]] QWidget* makePrices();
  void fill(const services::EndpointSettings& endpoint);
  void showKeyField();
  void check();
  void test();
  void showFinding(const services::EndpointFinding& finding);
  void save();

  services::EndpointService& m_endpoints;
  Dialogs& m_dialogs;
  std::string m_before;  // its name so far; empty: it is new
  QLineEdit* m_name;
  QComboBox* m_kind;
  QLineEdit* m_address;
  QLineEdit* m_model;
  QComboBox* m_key;
  QLineEdit* m_keyWhere;
  QPushButton* m_browse;
  QCheckBox* m_hasPrice;
  QDoubleSpinBox* m_inputPrice;
  QDoubleSpinBox* m_outputPrice;
  QSpinBox* m_maxOutput;
  QSpinBox* m_concurrency;
  QCheckBox* m_allowPlain;
  QLabel* m_problem;
  QLabel* m_finding;
  QPushButton* m_test;
  QPushButton* m_save;
};

// What a test found, as a sentence.
[[nodiscard]] QString findingText(const services::EndpointFinding& finding);

}  // namespace swage::ui
