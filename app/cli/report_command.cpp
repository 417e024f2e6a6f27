// SPDX-License-Identifier: Apache-2.0
#include "app/cli/report_command.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/files.h"
#include "core/engine/report_service_impl.h"

namespace swage::cli {

void ReportCommand::start() {
  if (const Result<> written = write(); !written) {
    fail(written.error());
    return;
  }
  Q_EMIT done(wire::ExitCode::Ok);
}

Result<domain::RunId> ReportCommand::run(const std::filesystem::path& project) const {
  engine::RecordServiceImpl record;
  SWAGE_TRY(record.open(project));
  SWAGE_TRY_ASSIGN(const std::vector<services::RunSummary> runs, record.runs());
  domain::RunId chosen;
  for (const services::RunSummary& run : runs) {
    if (m_arguments.run ? run.id.value() == m_arguments.run->number : run.id > chosen) {
      chosen = run.id;
    }
  }
  if (chosen.isValid()) {
    return chosen;
  }
  return Error(ErrorKind::NotFound,
               m_arguments.run ? fmt::format("there is no run r{} in '{}'", m_arguments.run->number, project.string())
                               : fmt::format("there is no run in '{}'", project.string()),
               "`swage list` shows the runs");
}

Result<> ReportCommand::write() const {
  SWAGE_TRY_ASSIGN(const std::filesystem::path project, existingProject());
  SWAGE_TRY_ASSIGN(const domain::RunId run, run(project));
  SWAGE_TRY_ASSIGN(const std::string text, engine::makeReport(project, run, m_arguments.format));
  if (m_arguments.output == "-") {
    if (form() == OutputForm::Text) {
      print(text);
    } else {
      printJson({{"run", run.value()}, {"format", services::name(m_arguments.format)}, {"report", text}});
    }
    return {};
  }
  SWAGE_TRY(writeFileAtomically(m_arguments.output, text));
  if (form() == OutputForm::Text) {
    print(fmt::format("report of r{} written to {}\n", run.value(), m_arguments.output.string()));
  } else {
    printJson({{"run", run.value()},
               {"format", services::name(m_arguments.format)},
               {"file", m_arguments.output.string()},
               {"bytes", text.size()}});
  }
  return {};
}

}  // namespace swage::cli
