// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/domain/graph.h"
#include "core/patterns/catalogue.h"

// What each pattern file shows: a region of the kind the pattern is for, of a size the pattern is for.
namespace swage::synth {

[[nodiscard]] domain::Graph exampleGraph(const patterns::Pattern& pattern);
// What stands between the region markers of the pattern's file.
[[nodiscard]] std::string exampleSection(const patterns::Pattern& pattern);
// The section as it stands, and the file with another one in its place.
[[nodiscard]] std::string regionSection(const std::string& source);
[[nodiscard]] std::string withRegionSection(const std::string& source, const std::string& section);
// The file as it stands, with the include of the common part replaced by its text, as a composed program has it.
[[nodiscard]] std::string standaloneSource(const patterns::Pattern& pattern);

}  // namespace swage::synth
