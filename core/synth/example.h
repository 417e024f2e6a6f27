// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"
#include "core/domain/candidate.h"
#include "core/domain/device_info.h"
#include "core/patterns/catalogue.h"
#include "core/synth/example_graphs.h"

// What a pattern looks like: a small graph that it computes, and the kernel that it makes of it.
namespace swage::synth {

// What the pattern's strategy shows it with; empty where this build has none.
[[nodiscard]] Example exampleOf(const patterns::Pattern& pattern);

// A device for programs in the language, on which every pattern has room.
[[nodiscard]] domain::DeviceInfo exampleDevice(domain::Language language);

// The program of the example with the pattern's standard parameters. An error when the pattern does not fit it.
[[nodiscard]] Result<domain::Program> exampleProgram(const patterns::Pattern& pattern,
                                                     const patterns::Catalogue& catalogue);

}  // namespace swage::synth
