// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/domain/candidate.h"

namespace swage::synth {

// Of the helper functions of a language (patterns/<folder>/helpers.*), those whose names `source` mentions, and those
// that these mention, in the order of the file. Includes come one after another, with an empty line behind them.
[[nodiscard]] std::string helpersFor(std::string_view helpers, std::string_view source);

// Parts of a program as texts of their own: each of `sources`, which stand one behind the other in the program's
// `kernels`, behind those of its helper functions that it needs. `program` is all of it, in which lines are counted.
[[nodiscard]] std::vector<domain::SourcePart> partsOf(std::string_view helpers, const std::vector<std::string>& sources,
                                                      std::string_view kernels, std::string_view program);

// The names of all of them.
[[nodiscard]] std::set<std::string> helperNames(std::string_view helpers);

}  // namespace swage::synth
