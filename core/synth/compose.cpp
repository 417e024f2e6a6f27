// SPDX-License-Identifier: Apache-2.0
#include "core/synth/compose.h"

#include <cctype>

#include <fmt/format.h>

namespace swage::synth {
namespace {

// "vector_width" -> "kVectorWidth"
std::string constantName(std::string_view parameter) {
  std::string name = "k";
  bool upper = true;
  for (const char c : parameter) {
    if (c == '_') {
      upper = true;
      continue;
    }
    name += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    upper = false;
  }
  return name;
}

// The text after the marker line that ends `section`, with what stands before its begin marker dropped.
Result<std::string> bodyAfter(const patterns::Pattern& pattern, std::string_view section) {
  const std::string marker = fmt::format("//! swage:end {}\n", section);
  const std::size_t at = pattern.source.find(marker);
  if (at == std::string::npos) {
    return Error(ErrorKind::InvalidInput, fmt::format("pattern '{}' has no section '{}'", pattern.id, section));
  }
  return pattern.source.substr(at + marker.size());
}

}  // namespace

Result<std::string> composeSource(const patterns::Pattern& pattern, const RegionText& region,
                                  const Parameters& parameters, const std::string& space) {
  SWAGE_TRY_ASSIGN(const std::string body, bodyAfter(pattern, "region"));
  std::string text = fmt::format("namespace {} {{\n// {}: {}\n", space, pattern.id, pattern.description);
  for (const auto& [name, value] : parameters) {
    text += fmt::format("constexpr int {} = {};\n", constantName(name), value);
  }
  text += region.source;
  text += body;
  text += fmt::format("}}  // namespace {}\n", space);
  return text;
}

}  // namespace swage::synth
