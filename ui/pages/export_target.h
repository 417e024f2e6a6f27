// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "ui/widgets/theme.h"

class QCheckBox;
class QLabel;
class QLineEdit;
class QPushButton;

namespace swage::ui {

class ExportAssistant;

// Where an export goes, whether something is there already, and the button that writes it.
class ExportTarget final : public QWidget {
  Q_OBJECT

 public:
  explicit ExportTarget(ExportAssistant& assistant, QWidget* parent = nullptr);
  void setTheme(const Theme& theme);

 Q_SIGNALS:
  void browseRequested();
  void closeRequested();

 private:
  void name();
  void layOut();
  void connectParts();
  void showTarget();
  void showState();
  void openFolder() const;

  ExportAssistant& m_assistant;
  QLineEdit* m_path;
  QPushButton* m_browse;
  QLabel* m_state;
  QCheckBox* m_replace;
  QPushButton* m_openFolder;
  QPushButton* m_write;
  QPushButton* m_close;
  Theme m_theme = Theme::light();
};

}  // namespace swage::ui
