// SPDX-License-Identifier: Apache-2.0
#include "app/cli/db_command.h"

#include <utility>

#include <fmt/format.h>

#include "app/cli/text.h"

namespace swage::cli {
namespace {

Result<DbAnswer> answerFor(const DbArguments& arguments, const std::filesystem::path& project,
                           const engine::AnswerThread::IsCancelled& isCancelled) {
  switch (arguments.action) {
    case DbArguments::Action::Check: {
      SWAGE_TRY_ASSIGN(const store::RecordCheck check, store::checkRecord(project, isCancelled));
      return answerOf(check, project);
    }
    case DbArguments::Action::Backup: {
      SWAGE_TRY_ASSIGN(const store::RecordBackup backup, store::backUpRecord(project, arguments.file, isCancelled));
      return answerOf(backup, project, arguments.file);
    }
    case DbArguments::Action::Vacuum: break;
  }
  SWAGE_TRY_ASSIGN(const store::RecordSizes sizes, store::vacuumRecord(project, isCancelled));
  return answerOf(sizes, project);
}

}  // namespace

DbAnswer answerOf(const store::RecordCheck& check, const std::filesystem::path& project) {
  DbAnswer answer{.text = {},
                  .json = {{"project", project.string()},
                           {"intact", check.isIntact()},
                           {"problems", check.problems},
                           {"problem_count", check.problemCount},
                           {"artifacts", check.artifacts},
                           {"bytes", check.bytes}}};
  for (const std::string& problem : check.problems) {
    answer.text += problem + '\n';
  }
  if (const Result<> verdict = store::verdictOf(check, project); !verdict) {
    answer.failure = verdict.error();
  } else {
    answer.text = fmt::format("the record of '{}' is intact: {}, {}\n", project.string(), formatBytes(check.bytes),
                              counted(check.artifacts, "artifact"));
  }
  return answer;
}

DbAnswer answerOf(const store::RecordBackup& backup, const std::filesystem::path& project,
                  const std::filesystem::path& file) {
  DbAnswer answer{
      .text = fmt::format("backed up the record of '{}' to '{}': {} before, {} in the copy\n", project.string(),
                          file.string(), formatBytes(backup.recordBytes), formatBytes(backup.bytes)),
      .json = {{"project", project.string()},
               {"file", file.string()},
               {"bytes_before", backup.recordBytes},
               {"bytes_after", backup.bytes},
               {"artifacts_from_files", backup.artifacts},
               {"artifacts_left_out", backup.leftOut}}};
  if (backup.leftOut > 0) {
    answer.text += fmt::format("{} could not be read and {} not in it; `swage db check` names them\n",
                               counted(backup.leftOut, "artifact"), backup.leftOut == 1 ? "is" : "are");
  }
  return answer;
}

DbAnswer answerOf(const store::RecordSizes& sizes, const std::filesystem::path& project) {
  DbAnswer answer{.text = fmt::format("the database of '{}': {} before, {} after\n", project.string(),
                                      formatBytes(sizes.before), formatBytes(sizes.after)),
                  .json = {{"project", project.string()},
                           {"bytes_before", sizes.before},
                           {"bytes_after", sizes.after},
                           {"held", sizes.isHeld}}};
  if (sizes.isHeld) {
    answer.text += "another program reads it: the file becomes smaller when that has ended\n";
  }
  return answer;
}

void DbCommand::start() {
  const Result<std::filesystem::path> project = existingProject();
  if (!project) {
    fail(project.error());
    return;
  }
  connect(&m_answer, &QFutureWatcherBase::finished, this, &DbCommand::show);
  m_answer.setFuture(m_thread.ask<DbAnswer>(
      [arguments = m_arguments, project = *project](const engine::AnswerThread::IsCancelled& isCancelled) {
        return answerFor(arguments, project, isCancelled);
      }));
}

void DbCommand::show() {
  const Result<DbAnswer> answer = m_answer.result();
  if (!answer) {
    fail(answer.error());
    return;
  }
  if (form() == OutputForm::Text) {
    print(answer->text);
  } else {
    printJson(answer->json);
  }
  if (!answer->failure) {
    Q_EMIT done(wire::ExitCode::Ok);
  } else if (form() == OutputForm::Text) {
    fail(*answer->failure);
  } else {
    Q_EMIT done(wire::exitCodeFor(answer->failure->kind()));
  }
}

}  // namespace swage::cli
