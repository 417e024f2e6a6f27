// SPDX-License-Identifier: Apache-2.0
#include "app/cli/evaluate_command.h"

#include <iostream>
#include <iterator>

#include <fmt/format.h>

#include "app/cli/views.h"
#include "core/base/files.h"
#include "core/base/log.h"

namespace swage::cli {
namespace {

Result<std::string> readSource(const std::filesystem::path& file) {
  if (file == "-") {
    return std::string(std::istreambuf_iterator<char>(std::cin), {});
  }
  return readTextFile(file);
}

std::string place(const services::EditOutcome& outcome) {
  const std::string cell = outcome.detail.row.cell ? outcome.detail.row.cell->name() : std::string();
  if (outcome.isElite) {
    return fmt::format("it is the elite of {}{}\n", cell, outcome.isWinner ? ", and the best of its run" : "");
  }
  return outcome.detail.row.status == domain::CandidateStatus::Correct ? fmt::format("{} has a faster elite\n", cell)
                                                                       : std::string();
}

}  // namespace

void EvaluateCommand::start() {
  Result<services::EditSpec> edit = spec();
  if (!edit) {
    fail(edit.error());
    return;
  }
  m_evaluation = std::make_unique<run::EditEvaluation>(context().parts, std::move(*edit));
  connect(m_evaluation.get(), &run::EditEvaluation::stageChanged, this,
          [](const std::string& stage) { log::info("{}", stage); });
  connect(m_evaluation.get(), &run::EditEvaluation::finished, this, &EvaluateCommand::show);
  m_evaluation->start();
}

Result<services::EditSpec> EvaluateCommand::spec() const {
  services::EditSpec edit;
  SWAGE_TRY_ASSIGN(edit.project, existingProject());
  edit.parent = domain::CandidateId(m_arguments.candidate.number);
  SWAGE_TRY_ASSIGN(std::string source, readSource(m_arguments.source));
  edit.change = services::SourceEdit{.source = std::move(source)};
  return edit;
}

void EvaluateCommand::interrupt(int signal, int count) {
  m_signal = signal;
  if (m_evaluation && count == 1) {
    m_evaluation->cancel();
  } else {
    Command::interrupt(signal, count);
  }
}

void EvaluateCommand::show(const Result<services::EditOutcome>& outcome) {
  if (m_signal != 0) {
    Q_EMIT done(exitCodeForSignal(m_signal));
    return;
  }
  if (!outcome) {
    fail(outcome.error());
    return;
  }
  const bool correct = outcome->detail.row.status == domain::CandidateStatus::Correct;
  if (form() == OutputForm::Text) {
    print(candidateText(outcome->detail) + place(*outcome));
  } else {
    domain::Json json = toJson(outcome->detail);
    json["is_elite"] = outcome->isElite;
    json["is_winner"] = outcome->isWinner;
    printJson(json);
  }
  Q_EMIT done(correct ? wire::ExitCode::Ok : wire::ExitCode::VerificationFailed);
}

}  // namespace swage::cli
