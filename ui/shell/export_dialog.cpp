// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/export_dialog.h"

#include <QVBoxLayout>

#include "ui/pages/export_page.h"
#include "ui/shell/dialogs.h"
#include "ui/shell/theme_controller.h"

using namespace Qt::StringLiterals;

namespace swage::ui {

ExportDialog::ExportDialog(ProjectSession& session, const WindowServices& services, QWidget* parent)
    : QDialog(parent),
      m_dialogs(services.dialogs),
      m_page(new ExportPage(session, {services.exporter, services.exportChecks}, this)) {
  setObjectName(u"exportDialog"_s);
  setWindowTitle(tr("Export a Kernel"));
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->addWidget(m_page);
  resize(fontMetrics().averageCharWidth() * 165, fontMetrics().height() * 50);
  m_page->setChooseTarget([this](QWidget* over, services::ExportFormat format, const QString& current,
                                 const auto& chosen) { chooseTarget(over, format, current, chosen); });
  connect(m_page, &ExportPage::closeRequested, this, &QDialog::reject);
  connect(m_page, &ExportPage::wrote, this, [this](domain::CandidateId candidate, const QString& target) {
    Q_EMIT noticed({services::Notice::Severity::Info,
                    tr("Candidate %1 was exported.").arg(candidate.value()).toStdString(), target.toStdString()});
  });
  setTheme(services.theme.theme());
}

void ExportDialog::showSelected() {
  if (m_page->open()) {
    show();
    raise();
    activateWindow();
  }
}

void ExportDialog::setTheme(const Theme& theme) {
  m_page->setTheme(theme);
}

void ExportDialog::chooseTarget(QWidget* parent, services::ExportFormat format, const QString& current,
                                const std::function<void(const QString&)>& chosen) const {
  if (format == services::ExportFormat::Project) {
    m_dialogs.chooseExportFolder(parent, current, chosen);
  } else {
    m_dialogs.chooseExportFile(parent, current, chosen);
  }
}

}  // namespace swage::ui
