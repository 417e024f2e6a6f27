// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "core/synth/strategy.h"

namespace swage::synth {

// A strategy for CPUs whose kernel is one function over vectors, with its tiles on the stack.
class CpuTiledStrategy : public Strategy {
 public:
  [[nodiscard]] Launch launch(const Instance& /*instance*/, const std::string& entry) const final {
    Launch launch;
    launch.step.entry = entry;
    return launch;
  }

  [[nodiscard]] domain::Cell aims(const Instance& /*instance*/) const final {
    return {domain::DataMovement::Wide, domain::Arithmetic::Packed, domain::Decomposition::OneLaunch};
  }

 protected:
  explicit CpuTiledStrategy(std::string id) : Strategy(domain::Language::Cpp, std::move(id)) {}
};

}  // namespace swage::synth
