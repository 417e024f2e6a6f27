// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/domain/candidate.h"

// CPU programs compiled by the system's g++ with the default flags of the toolchain, and run in this process.
namespace swage::synth {

using Bytes = std::vector<unsigned char>;

// Runs the program on these inputs; the results are the plan's outputs. Fails the test when it cannot.
[[nodiscard]] std::vector<Bytes> runOnCpu(const domain::Program& program, const std::vector<Bytes>& inputs);

}  // namespace swage::synth
