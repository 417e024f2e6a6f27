// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace swage::synth {

// Of the helper functions of a language (patterns/<folder>/helpers.*), those whose names `source` mentions, and those
// that these mention, in the order of the file. Includes come one after another, with an empty line behind them.
[[nodiscard]] std::string helpersFor(std::string_view helpers, std::string_view source);

// The names of all of them.
[[nodiscard]] std::set<std::string> helperNames(std::string_view helpers);

}  // namespace swage::synth
