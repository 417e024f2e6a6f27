// SPDX-License-Identifier: Apache-2.0
#include "core/synth/strategies/template_strategy.h"

#include <cctype>

#include <fmt/format.h>

#include "core/synth/emit_region.h"

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

Result<KernelText> TemplateStrategy::write(const Instance& instance, const Launch& launch, int number) const {
  const patterns::Pattern& pattern = instance.pattern;
  SWAGE_TRY_ASSIGN(const std::string body, bodyAfter(pattern, "region"));
  KernelText kernel = emitRegion(instance.region, launch.step.entry);
  Parameters constants = instance.parameters;
  constants.insert(launch.constants.begin(), launch.constants.end());
  // A namespace of its own, so that one program may hold several patterns.
  const std::string space = fmt::format("region_{}", number);
  std::string text = fmt::format("namespace {} {{\n// {}: {}\n", space, pattern.id, pattern.description);
  for (const auto& [name, value] : constants) {
    text += fmt::format("constexpr int {} = {};\n", constantName(name), value);
  }
  text += kernel.source;
  text += body;
  text += fmt::format("}}  // namespace {}\n", space);
  // An exported file calls the kernels by their plain names.
  text += fmt::format("using {}::{};\n", space, launch.step.entry);
  for (const domain::KernelStep& following : launch.more) {
    text += fmt::format("using {}::{};\n", space, following.entry);
  }
  kernel.source = std::move(text);
  return kernel;
}

bool TemplateStrategy::accepts(const Region& region) const {
  return isWalkedIn(region, m_form);
}

Launch TemplateStrategy::oneLaunch(const std::string& entry) {
  Launch launch;
  launch.step.entry = entry;
  return launch;
}

}  // namespace swage::synth
