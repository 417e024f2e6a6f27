// SPDX-License-Identifier: Apache-2.0
#include "app/cli/bench_judge_command.h"

#include <algorithm>

#include <fmt/format.h>

#include "app/cli/text.h"

namespace swage::cli {

domain::Json toJson(const engine::JudgeBenchmarkResult& result) {
  domain::Json json = {{"run", result.run.value()}, {"task", result.task},         {"device", result.device},
                       {"genomes", result.genomes}, {"reaching", result.reaching}, {"followed", result.followed},
                       {"paid", result.paid},       {"ratio", result.ratio()},     {"seeds", domain::Json::array()}};
  for (const engine::JudgeComparison& one : result.seeds) {
    json["seeds"].push_back({{"seed", one.seed}, {"with_judge", one.withJudge}, {"without", one.without}});
  }
  return json;
}

std::string benchJudgeText(const engine::JudgeBenchmarkResult& result) {
  std::vector<std::vector<std::string>> rows{{"seed", "with judge", "without"}};
  for (const engine::JudgeComparison& one : result.seeds) {
    rows.push_back({std::to_string(one.seed), std::to_string(one.withJudge), std::to_string(one.without)});
  }
  return fmt::format(
      "r{}, {} on {}: {} recorded programs, {} of them reach the goal\nevaluations until one is found\n{}\n"
      "{:.2f} times fewer evaluations with a judge (geometric mean); advice was followed {} times and gave a faster "
      "candidate {} times\n",
      result.run.value(), result.task, result.device, result.genomes, result.reaching, formatTable(rows),
      result.ratio(), result.followed, result.paid);
}

void BenchJudgeCommand::start() {
  if (const Result<> shown = show(); !shown) {
    fail(shown.error());
    return;
  }
  Q_EMIT done(wire::ExitCode::Ok);
}

Result<> BenchJudgeCommand::show() const {
  SWAGE_TRY_ASSIGN(const std::filesystem::path project, existingProject());
  SWAGE_TRY_ASSIGN(const store::Record record, store::Record::open(project, store::Record::Mode::ReadOnly));
  SWAGE_TRY_ASSIGN(const judge::RuleBook rules,
                   judge::RuleBook::load(process::ruleFolders(context().locations, project)));
  domain::RunId run(m_arguments.run ? m_arguments.run->number : 0);
  if (!m_arguments.run) {
    SWAGE_TRY_ASSIGN(const std::vector<store::RunRow> runs, record.runs());
    for (const store::RunRow& row : runs) {
      run = std::max(run, row.id);
    }
  }
  SWAGE_TRY_ASSIGN(const engine::JudgeBenchmarkResult result,
                   engine::compareJudge(record, run, rules, m_arguments.options));
  if (form() == OutputForm::Text) {
    print(benchJudgeText(result));
  } else {
    printJson(toJson(result));
  }
  return {};
}

}  // namespace swage::cli
