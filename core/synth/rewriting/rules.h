// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "core/synth/rewriting/graph_edit.h"

// The rules of core/domain/rewrite.h: one file for each family registers its own here.
namespace swage::synth {

// Writes what takes the place of the anchor's result. False: the rule says nothing of this node.
using ApplyRule = bool (*)(GraphEdit& edit);

// Whether it saves work at these extents; a genome may still apply it at others.
using RulePays = bool (*)(const GraphEdit& edit);

// Convolutions that are left to PyTorch: as they lie, with channels last, and by the fastest of cuDNN's kernels, which
// it tries out in the first call.
inline constexpr std::string_view kLibraryConvolution = "library convolution";
inline constexpr std::string_view kLaidOutConvolution = "channels last";
inline constexpr std::string_view kSearchedConvolution = "channels last, searched";

struct GraphRule {
  std::string_view name;  // of the table of rules
  ApplyRule apply;
  RulePays pays = nullptr;  // none: always
  bool isChoice = false;    // saves no work: tried by itself, never because everything is
};

void registerReductionRules(std::vector<GraphRule>& rules);
void registerAttentionRules(std::vector<GraphRule>& rules);
void registerConvolutionRules(std::vector<GraphRule>& rules);
void registerNormalisationRules(std::vector<GraphRule>& rules);
void registerStructureRules(std::vector<GraphRule>& rules);
void registerScanRules(std::vector<GraphRule>& rules);

}  // namespace swage::synth
