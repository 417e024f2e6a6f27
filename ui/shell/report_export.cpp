// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/report_export.h"

#include <QWidget>

#include "core/base/files.h"
#include "ui/models/answer.h"
#include "ui/models/format.h"
#include "ui/shell/dialogs.h"

using namespace Qt::StringLiterals;

namespace swage::ui {

ReportExport::ReportExport(ProjectSession& session, const services::ReportService& reports, Dialogs& dialogs,
                           QWidget* page)
    : QObject(page), m_session(session), m_reports(reports), m_dialogs(dialogs), m_page(page) {}

void ReportExport::ask(const services::RunSummary& run) {
  const QString suggestion = u"%1-r%2.html"_s.arg(toQString(run.taskName), QString::number(run.id.value()));
  m_dialogs.chooseExportFile(m_page, suggestion, [this, id = run.id](const QString& file) { write(id, file); });
}

void ReportExport::write(domain::RunId run, const QString& file) {
  const bool isMarkdown = file.endsWith(u".md"_s, Qt::CaseInsensitive);
  const auto format = isMarkdown ? services::ReportFormat::Markdown : services::ReportFormat::Html;
  whenAnswered(m_reports.report(m_session.project(), run, format), this, [this, file](const Result<std::string>& text) {
    const Result<> written = text ? writeFileAtomically(file.toStdString(), *text) : Result<>(text.error());
    if (!written) {
      m_session.report(written.error());
      return;
    }
    Q_EMIT m_session.noticed(
        {services::Notice::Severity::Info, tr("Report exported to %1").arg(file).toStdString(), std::string()});
  });
}

}  // namespace swage::ui
