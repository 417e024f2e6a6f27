// SPDX-License-Identifier: Apache-2.0
#include "app/cli/run_command.h"

#include <cstdio>

#include <fmt/format.h>

#include "app/cli/run_summary.h"
#include "app/cli/terminal.h"
#include "app/cli/views.h"

namespace swage::cli {
namespace {

void writeError(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace

ProgressLine makeProgressLine(const Common& common) {
  return {common.verbosity < 0 ? ProgressLine::Mode::Silent : ProgressLine::detect(), writeError,
          [] { return std::chrono::steady_clock::now(); }};
}

RunCommand::RunCommand(Context context, services::RunSpec spec)
    : Command(std::move(context)),
      m_spec(std::move(spec)),
      m_service(this->context().parts),
      m_progress(makeProgressLine(this->context().common)),
      m_news([] { return std::chrono::steady_clock::now(); }) {
  connect(&m_service, &services::RunService::progressed, this, [this](const services::Progress& progress) {
    m_progress.show(progress);
    if (m_news.isNews(progress)) {
      event("progress", toJson(progress));
    }
  });
  connect(&m_service, &services::RunService::runCreated, this, [this](domain::RunId run) {
    event("run", {{"run", run.value()}, {"project", m_spec.project.string()}});
  });
  connect(&m_service, &services::RunService::candidateEvaluated, this,
          [this](const services::CandidateRow& row) { event("candidate", toJson(row)); });
  connect(&m_service, &services::RunService::baselineMeasured, this,
          [this](const domain::Baseline& baseline) { event("baseline", domain::toJson(baseline)); });
  connect(&m_service, &services::RunService::noticed, this, &RunCommand::handleNotice);
  connect(&m_service, &services::RunService::finished, this, &RunCommand::handleFinished);
}

void RunCommand::start() {
  run();
}

void RunCommand::run() {
  m_service.start(m_spec);
}

void RunCommand::interrupt(int signal, int count) {
  m_signal = signal;
  if (count == 1) {
    m_progress.clear();
    writeError("swage: stopping after the evaluation in progress; press Ctrl-C again to stop at once\n");
    m_service.stop();
  } else {
    m_service.kill();
  }
}

void RunCommand::event(const char* name, domain::Json json) {
  if (form() == OutputForm::JsonLines) {
    json["event"] = name;
    printJson(json);
  }
}

void RunCommand::handleNotice(const services::Notice& notice) {
  event("notice", toJson(notice));
  if (context().common.verbosity < 0 && notice.severity == services::Notice::Severity::Info) {
    return;
  }
  m_progress.clear();
  const Tone tone = notice.severity == services::Notice::Severity::Error     ? Tone::Bad
                    : notice.severity == services::Notice::Severity::Warning ? Tone::Warning
                                                                             : Tone::Dim;
  writeError(paintedError(tone, "swage: ") + notice.text + '\n' +
             (notice.hint.empty() ? "" : paintedError(Tone::Dim, "hint: ") + notice.hint + '\n'));
}

wire::ExitCode RunCommand::exitCode(const services::RunOutcome& outcome) const {
  if (outcome.error) {
    return wire::exitCodeFor(outcome.error->kind());
  }
  if (m_signal != 0) {
    return exitCodeForSignal(m_signal);
  }
  if (!outcome.best.isValid() && !outcome.winner.isValid()) {
    return wire::ExitCode::NoCorrectKernel;
  }
  return outcome.targetMissed ? wire::ExitCode::TargetMissed : wire::ExitCode::Ok;
}

void RunCommand::handleFinished(const services::RunOutcome& outcome) {
  m_progress.clear();
  if (outcome.error) {
    printError(*outcome.error, form());
  } else if (outcome.run.isValid()) {
    if (const Result<> summarised = summarise(outcome); !summarised) {
      fail(summarised.error());
      return;
    }
  } else if (form() == OutputForm::Json) {
    printJson({{"run", nullptr}, {"interrupted", outcome.interrupted}});
  }
  const wire::ExitCode code = exitCode(outcome);
  Q_EMIT done(code);
}

Result<> RunCommand::summarise(const services::RunOutcome& outcome) {
  SWAGE_TRY_ASSIGN(const SearchReport report, readReport(m_spec.project, outcome));
  if (form() == OutputForm::Text) {
    print(reportText(report));
  } else if (form() == OutputForm::Json) {
    printJson(toJson(report));
  } else {
    event("finished", toJson(report));
  }
  return {};
}

void OptimizeCommand::start() {
  m_spec.task = process::resolveTask(m_spec.task, context().locations);
  m_spec.project = std::filesystem::absolute(projectFor(m_spec.task));
  run();
}

ResumeCommand::ResumeCommand(Context context, ResumeArguments arguments)
    : RunCommand(std::move(context), {}), m_arguments(std::move(arguments)) {}

void ResumeCommand::start() {
  if (const Result<> chosen = choose(); !chosen) {
    fail(chosen.error());
    return;
  }
  run();
}

Result<> ResumeCommand::choose() {
  SWAGE_TRY_ASSIGN(const std::filesystem::path project, existingProject());
  engine::RecordServiceImpl record;
  SWAGE_TRY(record.open(project));
  SWAGE_TRY_ASSIGN(const std::vector<services::RunSummary> runs, record.runs());
  domain::RunId chosen;
  for (const services::RunSummary& run : runs) {
    const bool wanted =
        m_arguments.run ? run.id.value() == m_arguments.run->number : run.status != domain::RunStatus::Finished;
    if (wanted && run.id > chosen) {
      chosen = run.id;
    }
  }
  if (!chosen.isValid()) {
    return Error(ErrorKind::NotFound,
                 m_arguments.run ? fmt::format("there is no run r{} in '{}'", m_arguments.run->number, project.string())
                                 : fmt::format("'{}' has no unfinished run", project.string()),
                 "`swage list` shows the runs; a finished one goes on with a larger --time-budget when it is named");
  }
  m_spec.resume = chosen;
  m_spec.project = std::filesystem::absolute(project);
  m_spec.timeBudgetSeconds = m_arguments.timeBudgetSeconds;
  m_spec.maxEvaluations = m_arguments.maxEvaluations;
  m_spec.targetSpeedup = m_arguments.targetSpeedup;
  m_spec.requiredSpeedup = m_arguments.requiredSpeedup;
  m_spec.budgetUsd = m_arguments.models.usd;
  m_spec.budgetTokens = m_arguments.models.tokens;
  return {};
}

}  // namespace swage::cli
