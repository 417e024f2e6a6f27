// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/domain/device_kind.h"
#include "core/domain/graph.h"
#include "core/domain/rewrite.h"

// From a graph to graphs that compute the same in another way (core/domain/rewrite.h). Values keep their ids and new
// ones follow; inputs and outputs stay in their order. Pure, so any thread may use it.
namespace swage::synth {

// Where rules can be applied to the graph itself.
[[nodiscard]] std::vector<domain::Rewrite> findRewrites(const domain::Graph& graph);

// The graph after the rewrites, one after the other. No value: one of them cannot be applied. Whether it can does not
// depend on extents, but for rules about axes of one element, so that a genome fits a task at other sizes.
[[nodiscard]] std::optional<domain::Graph> rewritten(domain::Graph graph, const std::vector<domain::Rewrite>& rewrites);

// Whether kernels and operators of the device can do what the rule asks for.
[[nodiscard]] bool isForDevice(std::string_view rule, domain::DeviceKind device);

// Whether the rule saves no work, but chooses another way to do it.
[[nodiscard]] bool isChoice(std::string_view rule);

// Rewrites until none is left; those of one rule, where one is named, else those that save work. At most kMostRewrites.
inline constexpr std::size_t kMostRewrites = 256;
[[nodiscard]] std::vector<domain::Rewrite> allRewrites(domain::Graph graph, std::string_view rule = {});

}  // namespace swage::synth
