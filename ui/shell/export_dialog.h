// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDialog>

#include "ui/shell/window_services.h"

namespace swage::ui {

class ExportPage;
class ProjectSession;

// The export page in a window of its own, beside which the main window can still be used. Made once and shown again;
// what it checks goes on while it is closed.
class ExportDialog final : public QDialog {
  Q_OBJECT

 public:
  ExportDialog(ProjectSession& session, const WindowServices& services, QWidget* parent);
  // For what is selected now.
  void showSelected();
  void setTheme(const Theme& theme);

 Q_SIGNALS:
  void noticed(const swage::services::Notice& notice);

 private:
  void chooseTarget(QWidget* parent, services::ExportFormat format, const QString& current,
                    const std::function<void(const QString&)>& chosen) const;

  Dialogs& m_dialogs;
  ExportPage* m_page;
};

}  // namespace swage::ui
