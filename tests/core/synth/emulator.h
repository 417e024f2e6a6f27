// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/patterns/catalogue.h"
#include "tests/core/synth/system_compiler.h"

// Kernels in CUDA C++, run on the processor (emulation/runtime.h): what they compute, and that they stay inside of
// their buffers; not how fast, nor what depends on the order of warps.
namespace swage::synth {

// The patterns with helpers that the emulation has.
[[nodiscard]] const patterns::Catalogue& emulatedCatalogue();

// Runs a program that was made with emulatedCatalogue() on these inputs; the results are the plan's outputs. Buffers
// that nothing has written hold NaN. Fails the test when it cannot.
[[nodiscard]] std::vector<Bytes> runEmulated(const domain::Program& program, const std::vector<Bytes>& inputs);

}  // namespace swage::synth
