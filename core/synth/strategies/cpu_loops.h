// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>

#include "core/synth/region_shape.h"
#include "core/synth/strategy.h"

// Maps and reductions on processors, with OpenMP's threads and vector instructions.
namespace swage::synth::cpu {

// The least power of two that is not below `count`, which is positive.
[[nodiscard]] inline std::int64_t powerOfTwoFrom(std::int64_t count) {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(count)));
}

// What these strategies have in common: they walk whole tensors in one form, in one launch.
class CpuLoopStrategy : public Strategy {
 public:
  CpuLoopStrategy(std::string id, Form form) : Strategy(domain::Language::Cpp, std::move(id)), m_form(form) {}

  [[nodiscard]] bool accepts(const Region& region) const final { return isWalkedIn(region, m_form); }
  [[nodiscard]] Launch launch(const Instance& instance, const std::string& entry) const final;
  [[nodiscard]] domain::Cell aims(const Instance& instance) const final;
  // Tiles, blocks and lanes longer than the innermost axis are one and the same, and what streaming needs means nothing
  // without it.
  void normalise(const Instance& instance, Parameters& parameters) const final;

 private:
  [[nodiscard]] Result<> fits(const Instance& instance) const final;

  Form m_form;
};

void addMap(StrategyTable& table);
void addRow(StrategyTable& table);
void addSplit(StrategyTable& table);
void addColumn(StrategyTable& table);

}  // namespace swage::synth::cpu
