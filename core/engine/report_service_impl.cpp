// SPDX-License-Identifier: Apache-2.0
#include "core/engine/report_service_impl.h"

#include "core/engine/report_facts.h"

namespace swage::engine {

Result<std::string> makeReport(const std::filesystem::path& project, domain::RunId run, services::ReportFormat format) {
  SWAGE_TRY_ASSIGN(const exporting::RunReport report, readRunReport(project, run));
  return format == services::ReportFormat::Html ? exporting::reportHtml(report) : exporting::reportMarkdown(report);
}

QFuture<Result<std::string>> ReportServiceImpl::report(const std::filesystem::path& project, domain::RunId run,
                                                       services::ReportFormat format) const {
  return m_answers.ask<std::string>(
      [project, run, format](const AnswerThread::IsCancelled&) { return makeReport(project, run, format); });
}

}  // namespace swage::engine
