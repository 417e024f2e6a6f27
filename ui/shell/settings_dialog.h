// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDialog>

#include <functional>
#include <vector>

class QGridLayout;
class QLabel;
class QLineEdit;
class QListWidget;
class QStackedWidget;

namespace swage::services {
class EndpointService;
}

namespace swage::ui {

class Dialogs;
class SettingsStore;
class Shortcuts;
class ShortcutsEditor;
struct SettingInfo;
struct SettingSection;

// Everything that can be set, by section, with a search over all of them. What is changed holds at once.
class SettingsDialog final : public QDialog {
  Q_OBJECT

 public:
  // `endpoints` null: language models are not listed.
  SettingsDialog(SettingsStore& settings, Shortcuts& shortcuts, Dialogs& dialogs, QWidget* parent,
                 services::EndpointService* endpoints = nullptr);
  void showSection(const QString& id);

 private:
  // One setting: what it is found by, and its widgets.
  struct Row {
    int section;
    QString words;
    std::vector<QWidget*> widgets;
  };

  [[nodiscard]] QWidget* makeSection(const SettingSection& section);
  void addRow(QGridLayout& grid, const SettingInfo& setting);
  void addEndpoints(QGridLayout& grid);
  [[nodiscard]] QWidget* makeEditor(const SettingInfo& setting);
  [[nodiscard]] QWidget* makeTextField(const SettingInfo& setting);
  [[nodiscard]] QWidget* makeBrowse(const SettingInfo& setting, QLineEdit* field);
  void addPage(const QString& id, const QString& title, QWidget* page);
  void applySearch(const QString& text);

  SettingsStore& m_settings;
  Dialogs& m_dialogs;
  services::EndpointService* m_endpoints;
  QLineEdit* m_search;
  QListWidget* m_sections;
  QStackedWidget* m_pages;
  QLabel* m_file;
  ShortcutsEditor* m_shortcuts;
  std::vector<Row> m_rows;
};

}  // namespace swage::ui
