// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

#include "core/services/report_service.h"
#include "ui/models/project_session.h"

class QWidget;

namespace swage::ui {

class Dialogs;

// Asks where a report of a run goes, has it made and writes it: HTML, or Markdown where the file ends in .md. GUI
// thread only; what fails is reported by the session.
class ReportExport final : public QObject {
  Q_OBJECT

 public:
  // `page` is what the dialog belongs to, and owns this.
  ReportExport(ProjectSession& session, const services::ReportService& reports, Dialogs& dialogs, QWidget* page);
  void ask(const services::RunSummary& run);

 private:
  void write(domain::RunId run, const QString& file);

  ProjectSession& m_session;
  const services::ReportService& m_reports;
  Dialogs& m_dialogs;
  QWidget* m_page;
};

}  // namespace swage::ui
