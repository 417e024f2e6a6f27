// SPDX-License-Identifier: Apache-2.0
#include "tests/core/search/fake_space.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace swage::search::testing {

using domain::Genome;
using domain::OperatorKind;
using domain::RegionGene;

namespace {
std::string parameterName(int index) {
  return std::string(1, static_cast<char>('a' + index));
}
std::string patternName(int index) {
  return fmt::format("p{}", index);
}
int patternIndex(const RegionGene& region) {
  return region.pattern.back() - '0';
}

std::size_t pickIndex(std::size_t size, Random& random) {
  return random.below(size);
}
}  // namespace

RegionGene FakeSpace::region(std::vector<int> nodes, int pattern, Random* random) const {
  RegionGene made{std::move(nodes), patternName(pattern), {}};
  for (int i = 0; i < m_shape.parameters; ++i) {
    const auto levels = static_cast<std::size_t>(m_shape.levels);
    made.parameters[parameterName(i)] =
        random == nullptr ? m_shape.levels / 2 : static_cast<std::int64_t>(random->below(levels));
  }
  return made;
}

Genome FakeSpace::fresh(Random& random) const {
  Genome genome;
  std::vector<int> nodes;
  for (int node = 0; node < m_shape.nodes; ++node) {
    nodes.push_back(node);
    if (node + 1 == m_shape.nodes || random.chance(0.5)) {
      const int pattern = static_cast<int>(random.below(static_cast<std::size_t>(m_shape.patterns)));
      genome.regions.push_back(region(std::exchange(nodes, {}), pattern, &random));
    }
  }
  return genome;
}

std::vector<Genome> FakeSpace::seeds() const {
  std::vector<int> nodes(static_cast<std::size_t>(m_shape.nodes));
  std::iota(nodes.begin(), nodes.end(), 0);
  std::vector<Genome> found;
  for (int i = 0; i < m_shape.seeds; ++i) {
    found.push_back({{region(nodes, i % m_shape.patterns, nullptr)}});
  }
  return found;
}

std::optional<Genome> FakeSpace::vary(OperatorKind kind, const Genome& genome, const Genome* other,
                                      const domain::Cell* aim, Random& random) const {
  if (aim != nullptr) {
    m_aims.push_back(*aim);
  }
  Genome changed = genome;
  RegionGene& some = changed.regions[pickIndex(changed.regions.size(), random)];
  switch (kind) {
    case OperatorKind::Parameter: {
      auto& value =
          some.parameters[parameterName(static_cast<int>(random.below(static_cast<std::size_t>(m_shape.parameters))))];
      const auto step = 1 + random.below(static_cast<std::size_t>(m_shape.levels) - 1);
      value = (value + static_cast<std::int64_t>(step)) % m_shape.levels;
      return changed;
    }
    case OperatorKind::PatternSwap:
      if (m_shape.patterns < 2) {
        return std::nullopt;
      }
      some.pattern = patternName((patternIndex(some) + 1) % m_shape.patterns);
      return changed;
    case OperatorKind::Split: return split(std::move(changed), random);
    case OperatorKind::Merge: return merge(std::move(changed), random);
    case OperatorKind::Crossover: return crossover(std::move(changed), *other, random);
    default: return std::nullopt;
  }
}

std::optional<Genome> FakeSpace::split(Genome genome, Random& random) const {
  const std::size_t index = pickIndex(genome.regions.size(), random);
  if (genome.regions[index].nodes.size() < 2) {
    return std::nullopt;
  }
  RegionGene tail = genome.regions[index];
  tail.nodes = {tail.nodes.back()};
  genome.regions[index].nodes.pop_back();
  genome.regions.insert(genome.regions.begin() + static_cast<std::ptrdiff_t>(index) + 1, std::move(tail));
  return genome;
}

std::optional<Genome> FakeSpace::merge(Genome genome, Random& random) const {
  if (genome.regions.size() < 2) {
    return std::nullopt;
  }
  const std::size_t index = pickIndex(genome.regions.size() - 1, random);
  const auto next = genome.regions.begin() + static_cast<std::ptrdiff_t>(index) + 1;
  auto& nodes = genome.regions[index].nodes;
  nodes.insert(nodes.end(), next->nodes.begin(), next->nodes.end());
  genome.regions.erase(next);
  return genome;
}

std::optional<Genome> FakeSpace::crossover(Genome genome, const Genome& other, Random& random) const {
  for (RegionGene& region : genome.regions) {
    const auto same = std::find_if(other.regions.begin(), other.regions.end(),
                                   [&](const RegionGene& theirs) { return theirs.nodes == region.nodes; });
    if (same != other.regions.end() && random.chance(0.5)) {
      region = *same;
    }
  }
  return genome;
}

std::vector<Genome> FakeSpace::neighbours(const Genome& genome) const {
  std::vector<Genome> found;
  for (std::size_t i = 0; i < genome.regions.size(); ++i) {
    for (const auto& [name, value] : genome.regions[i].parameters) {
      for (const std::int64_t next : {value - 1, value + 1}) {
        if (next >= 0 && next < m_shape.levels) {
          found.push_back(genome);
          found.back().regions[i].parameters[name] = next;
        }
      }
    }
  }
  return found;
}

std::vector<double> FakeSpace::features(const Genome& genome) const {
  std::vector<double> row;
  for (const RegionGene& region : genome.regions) {
    for (const auto& [name, value] : region.parameters) {
      row.push_back(static_cast<double>(value));
    }
  }
  return row;
}

std::vector<Genome> FakeSpace::wholeRegionGenomes() const {
  std::vector<Genome> all;
  std::vector<int> nodes(static_cast<std::size_t>(m_shape.nodes));
  std::iota(nodes.begin(), nodes.end(), 0);
  int combinations = 1;
  for (int i = 0; i < m_shape.parameters; ++i) {
    combinations *= m_shape.levels;
  }
  for (int pattern = 0; pattern < m_shape.patterns; ++pattern) {
    for (int code = 0; code < combinations; ++code) {
      RegionGene made = region(nodes, pattern, nullptr);
      int rest = code;
      for (auto& [name, value] : made.parameters) {
        value = rest % m_shape.levels;
        rest /= m_shape.levels;
      }
      all.push_back({{std::move(made)}});
    }
  }
  return all;
}

std::string text(const Genome& genome) {
  std::vector<std::string> parts;
  for (const RegionGene& region : genome.regions) {
    std::vector<std::string> values;
    for (const auto& [name, value] : region.parameters) {
      values.push_back(fmt::format("{}={}", name, value));
    }
    parts.push_back(fmt::format("{}:{}({})", fmt::join(region.nodes, ","), region.pattern, fmt::join(values, ",")));
  }
  return fmt::format("{}", fmt::join(parts, " "));
}

std::string text(const Proposal& proposal) {
  std::vector<std::int64_t> parents;
  for (const auto parent : proposal.parents) {
    parents.push_back(parent.value());
  }
  return fmt::format("{} {} @{} {} <{}>{}", proposal.id.value(), domain::name(proposal.made_by), proposal.island,
                     text(*proposal.genome), fmt::join(parents, ","),
                     proposal.aim ? " -> " + proposal.aim->name() : "");
}

Genome point(const std::vector<std::int64_t>& parameters) {
  RegionGene region{{0}, patternName(0), {}};
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    region.parameters[parameterName(static_cast<int>(i))] = parameters[i];
  }
  return {{std::move(region)}};
}

std::vector<std::int64_t> coordinates(const Genome& genome) {
  std::vector<std::int64_t> values;
  for (const auto& [name, value] : genome.regions.front().parameters) {
    values.push_back(value);
  }
  return values;
}

domain::Cell cell(int index) {
  return domain::Cell::fromIndex(index);
}

Outcome measure(const Genome& genome, domain::CandidateId candidate) {
  double time = 100.0 * static_cast<double>(genome.regions.size());
  int patterns = 0;
  std::int64_t sum = 0;
  for (const RegionGene& region : genome.regions) {
    patterns += patternIndex(region);
    time += 30.0 * (1 + patternIndex(region)) * static_cast<double>(region.nodes.size());
    for (const auto& [name, value] : region.parameters) {
      time += 7.0 * std::abs(static_cast<double>(value) - 1.0);
      sum += value;
    }
  }
  const int movement = std::min(patterns, 3);
  const int decomposition = genome.regions.size() > 1 ? 0 : 1;
  Outcome outcome{Outcome::Kind::Correct, candidate, cell(movement * 9 + decomposition), time,
                  domain::Speedup::exactly(1000.0 / time)};
  if (sum % 7 == 6) {
    outcome = {Outcome::Kind::Failed, candidate, outcome.cell, 0.0, {}};
  }
  return outcome;
}

std::vector<Step> drive(Searcher& searcher, int count, const Device& device) {
  std::vector<Step> steps;
  for (int i = 0; i < count; ++i) {
    auto proposal = searcher.next();
    if (!proposal) {
      break;
    }
    const Outcome outcome = device(*proposal->genome, domain::CandidateId(proposal->id.value() + 1000));
    searcher.report(proposal->id, outcome);
    steps.push_back({std::move(*proposal), outcome});
  }
  return steps;
}

}  // namespace swage::search::testing
