// SPDX-License-Identifier: Apache-2.0
#include "app/cli/task_commands.h"

#include <algorithm>

#include <fmt/format.h>

#include "app/cli/profile_view.h"
#include "app/cli/views.h"
#include "core/engine/task_list.h"
#include "core/export/provenance.h"
#include "core/trust/trust.h"

namespace swage::cli {
namespace {

std::filesystem::path bundleFor(const ImportArguments& arguments) {
  if (!arguments.output.empty()) {
    return arguments.output;
  }
  return process::defaultProject(arguments.task).filename().string() + ".swage";
}

}  // namespace

void TasksCommand::start() {
  const std::filesystem::path& other = m_arguments.folder;
  if (std::error_code ignored; !other.empty() && !std::filesystem::is_directory(other, ignored)) {
    fail(Error(ErrorKind::NotFound, fmt::format("there is no folder '{}'", other.string()),
               "`swage tasks` without a folder lists the bundled tasks"));
    return;
  }
  std::vector<std::vector<std::string>> rows{{"task", "what it is", "file"}};
  domain::Json all = domain::Json::array();
  for (const std::filesystem::path& folder : {context().locations.tasks, process::taskFolder(), other}) {
    for (const engine::ListedTask& task : engine::listTasks(folder)) {
      rows.push_back({task.name, task.description, task.path.string()});
      all.push_back({{"name", task.name},
                     {"path", task.path.string()},
                     {"description", task.description},
                     {"bundled", folder == context().locations.tasks}});
    }
  }
  if (form() == OutputForm::Text) {
    print(formatTable(rows));
  } else if (form() == OutputForm::Json) {
    printJson({{"tasks", std::move(all)}});
  } else {
    std::for_each(all.begin(), all.end(), printJson);
  }
  Q_EMIT done(wire::ExitCode::Ok);
}

void ImportCommand::start() {
  run::TaskRequest request{.task = process::resolveTask(m_arguments.task, context().locations),
                           .inputs = m_arguments.inputs,
                           .overrides = m_arguments.overrides,
                           .eval = m_arguments.eval,
                           .folder = {},
                           .exactOutput = std::filesystem::absolute(bundleFor(m_arguments))};
  m_preparation = std::make_unique<run::TaskPreparation>(context().parts.programs.bridge, std::move(request));
  connect(m_preparation.get(), &run::TaskPreparation::finished, this, &ImportCommand::show);
  m_preparation->start();
}

void ImportCommand::show(const Result<store::TaskBundle>& bundle) {
  if (!bundle) {
    fail(bundle.error());
    return;
  }
  if (form() == OutputForm::Text) {
    print(taskText(bundle->task, bundle->directory.string()));
  } else {
    printJson(taskSummary(bundle->task, bundle->directory.string()));
  }
  Q_EMIT done(wire::ExitCode::Ok);
}

void VerifyCommand::start() {
  const Result<std::filesystem::path> project = existingProject();
  if (!project) {
    fail(project.error());
    return;
  }
  m_project = *project;
  m_verification = std::make_unique<trust::Verification>(context().parts.programs, *project,
                                                         domain::CandidateId(m_arguments.candidate.number));
  connect(m_verification.get(), &trust::Verification::finished, this, &VerifyCommand::show);
  m_verification->start();
}

void VerifyCommand::interrupt(int signal, int count) {
  m_signal = signal;
  if (m_shapes && count == 1) {
    m_shapes->cancel();
  } else if (m_verification && count == 1) {
    m_verification->cancel();
  } else {
    Command::interrupt(signal, count);
  }
}

void VerifyCommand::show(const Result<domain::Evaluation>& evaluation) {
  if (m_signal != 0) {
    Q_EMIT done(exitCodeForSignal(m_signal));
    return;
  }
  if (!evaluation) {
    fail(evaluation.error());
    return;
  }
  m_evaluation = *evaluation;
  if (m_arguments.noChecks || domain::asCorrect(m_evaluation) == nullptr) {
    finish(std::nullopt);
    return;
  }
  m_shapes = std::make_unique<trust::HeldOutShapes>(context().parts.programs, m_project,
                                                    domain::CandidateId(m_arguments.candidate.number));
  connect(m_shapes.get(), &trust::HeldOutShapes::finished, this, &VerifyCommand::handleChecked);
  m_shapes->start();
}

void VerifyCommand::handleChecked(const Result<domain::Assurance>& assurance) {
  if (m_signal != 0 || !assurance) {
    Q_EMIT done(exitCodeForSignal(m_signal));
    return;
  }
  keepAssurance(m_project, domain::CandidateId(m_arguments.candidate.number), *assurance);
  finish(*assurance);
}

void VerifyCommand::finish(const std::optional<domain::Assurance>& shapes) {
  const bool correct = domain::asCorrect(m_evaluation) != nullptr;
  const auto heldBack = trust::heldBackAssurance(m_evaluation);
  if (form() == OutputForm::Text) {
    print(fmt::format("candidate {}: {}\n{}\n", m_arguments.candidate.number, domain::statusName(m_evaluation),
                      domain::summary(m_evaluation)));
    for (const auto& assurance : {heldBack, shapes}) {
      print(assurance ? exporting::describe(*assurance) + '\n' : std::string());
    }
  } else {
    printJson({{"candidate", m_arguments.candidate.number},
               {"correct", correct},
               {"evaluation", domain::toJson(m_evaluation)},
               {"held_out_shapes", shapes ? domain::toJson(*shapes) : domain::Json()}});
  }
  Q_EMIT done(correct ? wire::ExitCode::Ok : wire::ExitCode::VerificationFailed);
}

void ProfileCommand::start() {
  const Result<std::filesystem::path> project = existingProject();
  if (!project) {
    fail(project.error());
    return;
  }
  m_job = std::make_unique<run::ProfileJob>(context().parts.programs, *project,
                                            domain::CandidateId(m_arguments.candidate.number));
  connect(m_job.get(), &run::ProfileJob::finished, this, &ProfileCommand::show);
  m_job->start();
}

void ProfileCommand::interrupt(int signal, int count) {
  m_signal = signal;
  if (m_job && count == 1) {
    m_job->cancel();
  } else {
    Command::interrupt(signal, count);
  }
}

void ProfileCommand::show(const Result<domain::Profile>& profile) {
  if (m_signal != 0) {
    Q_EMIT done(exitCodeForSignal(m_signal));
    return;
  }
  if (!profile) {
    fail(profile.error());
    return;
  }
  if (form() == OutputForm::Text) {
    print(fmt::format("candidate   {}\n{}", m_arguments.candidate.number, profileText(*profile)));
  } else {
    printJson({{"candidate", m_arguments.candidate.number}, {"profile", domain::toJson(*profile)}});
  }
  Q_EMIT done(wire::ExitCode::Ok);
}

}  // namespace swage::cli
