// SPDX-License-Identifier: Apache-2.0
#include "core/engine/judge_benchmark.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "core/judge/recorded_space.h"
#include "core/judge/swarm.h"
#include "core/run/candidate_outcome.h"
#include "core/search/searcher.h"
#include "core/stats/roofline.h"

namespace swage::engine {
namespace {

constexpr std::size_t kFewest = 20;  // genomes
constexpr std::size_t kSeeds = 12;   // of the space, at most: what the search had synthesised first

class Comparison {
 public:
  Comparison(std::vector<store::CandidateRecord> history, const store::RunRow& run, const domain::Graph& graph,
             const judge::RuleBook& rules, const JudgeBenchmarkOptions& options)
      : m_history(std::move(history)), m_rules(rules), m_options(options), m_device(run.device) {
    m_task = stats::roofline(graph, m_device);
    m_type = graph.outputs.empty() ? domain::ScalarType::Float32 : graph.type(graph.outputs.front().value).dtype;
    for (const store::CandidateRecord& candidate : m_history) {
      if (isUsable(candidate)) {
        m_byGenome.try_emplace(domain::canonicalText(*candidate.genome), &candidate);
      }
    }
  }

  Result<JudgeBenchmarkResult> run() {
    if (m_byGenome.size() < kFewest) {
      return Error(
          ErrorKind::InvalidInput,
          fmt::format("the run has {} candidates to search among, and {} are needed", m_byGenome.size(), kFewest),
          "a longer `swage optimize TASK --judge off` makes a record");
    }
    const judge::RecordedSpace space = makeSpace();
    JudgeBenchmarkResult result;
    result.genomes = m_byGenome.size();
    for (const auto& [text, candidate] : m_byGenome) {
      m_best = std::max(m_best, speedupOf(*candidate));
    }
    result.reaching =
        static_cast<std::size_t>(std::count_if(m_byGenome.begin(), m_byGenome.end(), [this](const auto& one) {
          return speedupOf(*one.second) >= m_options.goal * m_best;
        }));
    for (int i = 1; i <= m_options.seeds; ++i) {
      const auto seed = static_cast<std::uint64_t>(i);
      const int without = search(space, seed, nullptr);
      judge::Swarm swarm(m_rules, swarmOptions(seed));
      const int with = search(space, seed, &swarm);
      result.seeds.push_back({seed, with, without});
      for (const judge::PairState& pair : swarm.pairs()) {
        result.followed += pair.followed;
        result.paid += pair.paid;
      }
    }
    return result;
  }

 private:
  static bool isUsable(const store::CandidateRecord& candidate) {
    return candidate.genome && !candidate.genome->regions.empty() && candidate.evaluation &&
           !std::holds_alternative<domain::Duplicate>(*candidate.evaluation);
  }
  static double speedupOf(const store::CandidateRecord& candidate) {
    const search::Outcome outcome = run::outcomeOf(candidate, *candidate.evaluation);
    return outcome.kind == search::Outcome::Kind::Correct ? outcome.overEager.value : 0.0;
  }
  [[nodiscard]] judge::SwarmOptions swarmOptions(std::uint64_t seed) const {
    judge::SwarmOptions options;
    options.pairs = m_options.pairs;
    options.seed = seed;
    return options;
  }
  // Seeds in front, in the order of the record.
  [[nodiscard]] judge::RecordedSpace makeSpace() const {
    std::vector<domain::Genome> seeds;
    std::vector<domain::Genome> others;
    for (const store::CandidateRecord& candidate : m_history) {
      const auto known =
          candidate.genome ? m_byGenome.find(domain::canonicalText(*candidate.genome)) : m_byGenome.end();
      if (known == m_byGenome.end() || known->second != &candidate) {
        continue;
      }
      const bool isSeed = candidate.madeBy == domain::OperatorKind::Synthesis && seeds.size() < kSeeds;
      (isSeed ? seeds : others).push_back(*candidate.genome);
    }
    const std::size_t count = seeds.size();
    seeds.insert(seeds.end(), others.begin(), others.end());
    return {std::move(seeds), count};
  }
  // Evaluations until the goal is reached, or until nothing is left.
  [[nodiscard]] int search(const judge::RecordedSpace& space, std::uint64_t seed, judge::Swarm* swarm) const {
    search::SearchOptions options;
    options.seed = seed;
    search::Searcher searcher(space, options);
    const int most = static_cast<int>(m_byGenome.size());
    for (int evaluation = 1; evaluation <= most; ++evaluation) {
      const judge::Swarm::Turn turn = swarm != nullptr ? swarm->next() : judge::Swarm::Turn();
      const auto proposal = searcher.next(turn.guidance ? &*turn.guidance : nullptr);
      if (!proposal) {
        return evaluation;
      }
      const store::CandidateRecord& candidate = *m_byGenome.at(domain::canonicalText(*proposal->genome));
      const search::Outcome outcome = run::outcomeOf(candidate, *candidate.evaluation);
      searcher.report(proposal->id, outcome);
      if (speedupOf(candidate) >= m_options.goal * m_best) {
        return evaluation;
      }
      if (swarm != nullptr) {
        swarm->proposed(turn, *proposal);
        (void)swarm->ended({.proposal = proposal->id,
                            .genome = &*proposal->genome,
                            .island = proposal->island,
                            .what = {.program = &candidate.program,
                                     .kernels = &candidate.kernels,
                                     .evaluation = &*candidate.evaluation,
                                     .profile = nullptr,
                                     .device = &m_device,
                                     .task = m_task,
                                     .type = m_type},
                            .outcome = outcome});
      }
    }
    return most;
  }

  std::vector<store::CandidateRecord> m_history;
  const judge::RuleBook& m_rules;
  const JudgeBenchmarkOptions& m_options;
  domain::DeviceInfo m_device;
  stats::Roofline m_task;
  domain::ScalarType m_type = domain::ScalarType::Float32;
  std::map<std::string, const store::CandidateRecord*> m_byGenome;
  double m_best = 0.0;
};

}  // namespace

double JudgeBenchmarkResult::ratio() const {
  double sum = 0.0;
  for (const JudgeComparison& one : seeds) {
    sum += std::log(static_cast<double>(one.without) / one.withJudge);
  }
  return seeds.empty() ? 1.0 : std::exp(sum / static_cast<double>(seeds.size()));
}

Result<JudgeBenchmarkResult> compareJudge(const store::Record& record, domain::RunId run, const judge::RuleBook& rules,
                                          const JudgeBenchmarkOptions& options) {
  SWAGE_TRY_ASSIGN(const store::RunRow row, record.run(run));
  SWAGE_TRY_ASSIGN(const domain::Task task, record.task(row.taskId));
  SWAGE_TRY_ASSIGN(std::vector<store::CandidateRecord> history, record.history(run));
  SWAGE_TRY_ASSIGN(JudgeBenchmarkResult result, Comparison(std::move(history), row, task.graph, rules, options).run());
  result.run = run;
  result.task = row.taskName;
  result.device = row.deviceName;
  return result;
}

}  // namespace swage::engine
