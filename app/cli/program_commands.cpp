// SPDX-License-Identifier: Apache-2.0
#include "app/cli/program_commands.h"

#include <algorithm>

#include <fmt/format.h>

#include "app/cli/completion.h"
#include "core/base/files.h"

namespace swage::cli {
namespace {

constexpr std::int64_t kMostIds = 200;

using Words = std::vector<Completion::Word>;

Words runWords(const engine::RecordServiceImpl& record) {
  Words words;
  if (const auto runs = record.runs()) {
    for (const services::RunSummary& run : *runs) {
      words.push_back({fmt::format("r{}", run.id.value()), fmt::format("{} on {}", run.taskName, run.target)});
    }
  }
  return words;
}

// The fastest of the latest run.
Words candidateWords(const engine::RecordServiceImpl& record) {
  services::CandidateQuery page;
  for (const services::RunSummary& run : record.runs().value_or(std::vector<services::RunSummary>())) {
    page.run = std::max(page.run, run.id);
  }
  page.sort = services::CandidateColumn::Speedup;
  page.descending = true;
  page.status = domain::CandidateStatus::Correct;
  page.limit = kMostIds;
  Words words;
  if (const auto rows = page.run.isValid() ? record.candidates(page) : Result<std::vector<services::CandidateRow>>()) {
    for (const services::CandidateRow& row : *rows) {
      words.push_back(
          {std::to_string(row.id.value()), fmt::format("{} {}", formatTime(row.timeNs), domain::name(row.madeBy))});
    }
  }
  return words;
}

}  // namespace

void CompletionCommand::start() {
  const std::string script = completionScript(m_arguments.shell);
  if (form() == OutputForm::Text) {
    print(script);
  } else {
    printJson({{"script", script}});
  }
  Q_EMIT done(wire::ExitCode::Ok);
}

void ManCommand::start() {
  const CommandFact program = describeProgram();
  if (const Result<> written = m_arguments.output.empty() ? show(program) : writeAll(program); !written) {
    fail(written.error());
    return;
  }
  Q_EMIT done(wire::ExitCode::Ok);
}

Result<> ManCommand::show(const CommandFact& program) const {
  const std::string wanted = m_arguments.command.empty() ? program.name : program.name + ' ' + m_arguments.command;
  const auto all = withCommandsBelow(program);
  const auto found = std::find_if(all.begin(), all.end(), [&wanted](const auto* one) { return one->name == wanted; });
  if (found == all.end()) {
    return Error(ErrorKind::Usage, fmt::format("there is no command '{}'", m_arguments.command),
                 "`swage --help` lists them");
  }
  const std::string page = manPage(**found, SWAGE_VERSION);
  if (form() == OutputForm::Text) {
    print(page);
  } else {
    printJson({{"name", manPageName(**found)}, {"page", page}});
  }
  return {};
}

Result<> ManCommand::writeAll(const CommandFact& program) const {
  std::error_code failure;
  std::filesystem::create_directories(m_arguments.output, failure);
  if (failure) {
    return Error(ErrorKind::Io, fmt::format("cannot create '{}': {}", m_arguments.output.string(), failure.message()),
                 "choose another folder with --output");
  }
  domain::Json files = domain::Json::array();
  for (const CommandFact* command : withCommandsBelow(program)) {
    const std::filesystem::path file = m_arguments.output / manPageName(*command);
    SWAGE_TRY(writeFileAtomically(file, manPage(*command, SWAGE_VERSION)));
    files.push_back(file.string());
  }
  if (form() != OutputForm::Text) {
    printJson({{"files", std::move(files)}});
  }
  return {};
}

void CompleteCommand::start() {
  const KnownIds known = [this](OptionFact::Takes what, const std::string& named) {
    const Result<std::filesystem::path> project =
        named.empty() ? existingProject() : Result<std::filesystem::path>(std::filesystem::path(named));
    engine::RecordServiceImpl record;
    if (!project || !record.open(*project)) {
      return Words();
    }
    Words words = runWords(record);
    if (what == OptionFact::Takes::Candidate) {
      const Words candidates = candidateWords(record);
      words.insert(words.begin(), candidates.begin(), candidates.end());
    }
    return words;
  };
  print(completionText(complete(describeProgram(), m_arguments.words, known)));
  Q_EMIT done(wire::ExitCode::Ok);
}

void VersionCommand::start() {
  if (form() == OutputForm::Text) {
    print("swage " SWAGE_VERSION "\n");
  } else {
    printJson({{"version", SWAGE_VERSION}});
  }
  Q_EMIT done(wire::ExitCode::Ok);
}

}  // namespace swage::cli
