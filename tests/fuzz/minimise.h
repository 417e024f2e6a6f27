// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tests/fuzz/campaign.h"

namespace swage::fuzz {

// Takes outputs, nodes and candidates from a case as long as it fails in the same way, and writes what is left over the
// file. Says how far it came.
[[nodiscard]] Result<std::string> minimise(const std::string& file, CampaignOptions options);

// The steps it tries: cases with an output less, and cases in which what a node computes is an input instead.
[[nodiscard]] std::vector<FuzzCase> smallerCases(const FuzzCase& which);

// Without nodes, inputs and values that no output needs; ids are given anew.
[[nodiscard]] FuzzCase withoutUnused(const FuzzCase& which);

}  // namespace swage::fuzz
