// SPDX-License-Identifier: Apache-2.0
#include "core/search/structure_memory.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace swage::search {

namespace {
constexpr std::size_t kBases = 5;  // samples whose neighbours compete
constexpr double kNear = 1.1;      // times the least estimate: what is tried before there is a model
constexpr int kKicks = 32;         // that compete with them
constexpr std::size_t kMaxTrainingRows = 512;
constexpr double kFailurePenalty = 0.69;  // a failure counts as twice the slowest time
constexpr double kRandomShare = 0.1;      // of suggestions that ignore the model, in case it is wrong
constexpr double kMaxOptimism = 2.0;      // standard deviations subtracted from the prediction

// The model is fitted again when so many observations are there: every one at first, rarely later.
std::size_t fittedCount(std::size_t observations) {
  const std::size_t step = observations < 32 ? 1 : observations < 256 ? 4 : 32;
  return observations / step * step;
}
}  // namespace

void StructureMemory::observe(const domain::Genome& genome, std::optional<double> logTime) {
  auto features = m_space->features(genome);
  // A record of another version of the patterns may describe this structure otherwise: nothing to learn from that.
  if (m_observations.empty() || m_observations.front().features.size() == features.size()) {
    m_observations.push_back({std::move(features), logTime});
  }
}

void StructureMemory::addTimed(Sample sample) {
  observe(sample.genome, sample.logTime);
  const auto slower =
      std::upper_bound(m_byTime.begin(), m_byTime.end(), sample.logTime,
                       [this](double time, std::size_t other) { return time < m_samples[other].logTime; });
  m_byTime.insert(slower, m_samples.size());
  m_samples.push_back(std::move(sample));
  m_closed.push_back(false);
}

void StructureMemory::addFailed(const domain::Genome& genome) {
  observe(genome, std::nullopt);
}

std::optional<Suggestion> StructureMemory::suggest(const TriedGenomes& tried, Random& random) {
  const bool modelled = m_samples.size() >= kModelSamples;
  auto pool = openNeighbours(tried, modelled ? kBases : 1);
  const bool atLocalOptimum = m_closed[m_byTime.front()];
  if (!modelled) {
    if (atLocalOptimum) {
      if (auto kicked = kick(tried, random)) {
        return kicked;
      }
    }
    pool = nearTheBest(std::move(pool));
    return pool.empty() ? std::nullopt : std::optional(std::move(pool[random.below(pool.size())]));
  }
  for (int i = 0; i < kKicks; ++i) {
    if (auto kicked = kick(tried, random)) {
      pool.push_back(std::move(*kicked));
    }
  }
  return pool.empty() ? std::nullopt : std::optional(mostPromising(std::move(pool), random));
}

// Those that are estimated to be near the fastest; all where nothing is known.
std::vector<Suggestion> StructureMemory::nearTheBest(std::vector<Suggestion> pool) const {
  std::vector<std::optional<double>> seconds;
  std::optional<double> least;
  for (const Suggestion& suggestion : pool) {
    seconds.push_back(m_space->estimate(suggestion.genome));
    if (seconds.back() && (!least || *seconds.back() < *least)) {
      least = seconds.back();
    }
  }
  std::vector<Suggestion> near;
  for (std::size_t i = 0; i < pool.size(); ++i) {
    if (!least || !seconds[i] || *seconds[i] <= kNear * *least) {
      near.push_back(std::move(pool[i]));
    }
  }
  return near;
}

Suggestion StructureMemory::choose(std::vector<Suggestion> pool, Random& random) {
  return m_samples.size() >= kModelSamples ? mostPromising(std::move(pool), random)
                                           : std::move(pool[random.below(pool.size())]);
}

std::vector<Suggestion> StructureMemory::openNeighbours(const TriedGenomes& tried, std::size_t bases) {
  std::vector<Suggestion> found;
  std::set<std::string> texts;  // two bases may share neighbours
  for (const std::size_t index : m_byTime) {
    if (bases == 0) {
      break;
    }
    if (m_closed[index]) {
      continue;
    }
    const Sample& base = m_samples[index];
    bool open = false;
    for (domain::Genome& genome : m_space->neighbours(base.genome)) {
      if (tried.contains(genome)) {
        continue;
      }
      open = true;
      if (texts.insert(domain::canonicalText(genome)).second) {
        found.push_back({std::move(genome), base.candidate, base.island});
      }
    }
    m_closed[index] = !open;
    bases -= open ? 1 : 0;
  }
  return found;
}

std::optional<Suggestion> StructureMemory::kick(const TriedGenomes& tried, Random& random) const {
  const Sample& base = m_samples[m_byTime[random.below(std::min(kBases, m_byTime.size()))]];
  domain::Genome genome = base.genome;
  const std::size_t changes = 2 + random.below(3);
  for (std::size_t i = 0; i < changes; ++i) {
    if (auto changed = m_space->vary(domain::OperatorKind::Parameter, genome, nullptr, nullptr, random)) {
      genome = std::move(*changed);
    }
  }
  if (tried.contains(genome)) {
    return std::nullopt;
  }
  return Suggestion{std::move(genome), base.candidate, base.island};
}

// The lowest of prediction minus optimism times uncertainty. Optimism is drawn anew each time, so that a run both
// sharpens what looks good and looks where the model knows little.
Suggestion StructureMemory::mostPromising(std::vector<Suggestion> pool, Random& random) {
  if (random.chance(kRandomShare)) {
    return std::move(pool[random.below(pool.size())]);
  }
  const double optimism = random.unit() * kMaxOptimism;
  const RandomForest& forest = model();
  const std::size_t width = m_observations.front().features.size();
  std::size_t best = 0;
  std::optional<double> bestScore;
  for (std::size_t i = 0; i < pool.size(); ++i) {
    const auto features = m_space->features(pool[i].genome);
    if (features.size() != width) {
      continue;
    }
    const auto predicted = forest.predict(features);
    const double score = predicted.mean - optimism * predicted.deviation;
    if (!bestScore || score < *bestScore) {
      best = i;
      bestScore = score;
    }
  }
  return std::move(pool[best]);
}

const RandomForest& StructureMemory::model() {
  const std::size_t count = fittedCount(m_observations.size());
  if (m_model && m_modelRows == count) {
    return *m_model;
  }
  std::vector<std::vector<double>> rows;
  std::vector<double> targets;
  const double slowest = m_samples[m_byTime.back()].logTime;
  for (const std::size_t index : trainingRows(count)) {
    rows.push_back(m_observations[index].features);
    targets.push_back(m_observations[index].logTime.value_or(slowest + kFailurePenalty));
  }
  m_model = RandomForest::fit(rows, targets, {}, Random(m_seed + count));
  m_modelRows = count;
  return *m_model;
}

// All of the first `count` observations, or the fastest half and the latest half of what a fit may cost.
std::vector<std::size_t> StructureMemory::trainingRows(std::size_t count) const {
  std::vector<std::size_t> rows(count);
  for (std::size_t i = 0; i < count; ++i) {
    rows[i] = i;
  }
  if (count <= kMaxTrainingRows) {
    return rows;
  }
  const auto older = static_cast<std::ptrdiff_t>(count - kMaxTrainingRows / 2);
  std::stable_sort(rows.begin(), rows.begin() + older, [this](std::size_t a, std::size_t b) {
    const auto& left = m_observations[a].logTime;
    const auto& right = m_observations[b].logTime;
    return left && (!right || *left < *right);
  });
  rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(kMaxTrainingRows / 2), rows.begin() + older);
  return rows;
}

}  // namespace swage::search
