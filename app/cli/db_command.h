// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QFutureWatcher>

#include <optional>
#include <string>

#include "app/cli/command.h"
#include "core/engine/answer_thread.h"
#include "core/store/record_upkeep.h"

namespace swage::cli {

// What one of the actions has to say, in both forms.
struct DbAnswer {
  std::string text;
  domain::Json json;
  std::optional<Error> failure{};  // the record is damaged
};

// `db`: looks after the record of a project, on a thread of its own; a signal gives up what is in progress.
class DbCommand final : public Command {
 public:
  DbCommand(Context context, DbArguments arguments) : Command(std::move(context)), m_arguments(std::move(arguments)) {}
  void start() override;

 private:
  void show();

  DbArguments m_arguments;
  QFutureWatcher<Result<DbAnswer>> m_answer;
  engine::AnswerThread m_thread;  // goes first
};

[[nodiscard]] DbAnswer answerOf(const store::RecordCheck& check, const std::filesystem::path& project);
[[nodiscard]] DbAnswer answerOf(const store::RecordBackup& backup, const std::filesystem::path& project,
                                const std::filesystem::path& file);
[[nodiscard]] DbAnswer answerOf(const store::RecordSizes& sizes, const std::filesystem::path& project);

}  // namespace swage::cli
