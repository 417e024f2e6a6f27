// SPDX-License-Identifier: Apache-2.0
#include "core/engine/pattern_service_impl.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "core/patterns/catalogue.h"
#include "core/synth/example.h"

namespace swage::engine {
namespace {

// A pattern is shown as what its strategy makes of its example.
void writeExample(const patterns::Pattern& pattern, const patterns::Catalogue& catalogue, services::PatternInfo& info) {
  if (const auto program = synth::exampleProgram(pattern, catalogue)) {
    info.sourceFile = fmt::format("kernel{}", domain::factsOf(pattern.language).sourceSuffix);
    info.source = "// " + synth::exampleOf(pattern).text + "\n" + program->source;
  }
}

services::PatternInfo infoOf(const patterns::Pattern& pattern, const patterns::Catalogue& catalogue) {
  services::PatternInfo info{.id = pattern.id,
                             .language = std::string(domain::factsOf(pattern.language).displayName),
                             .family = pattern.family,
                             .description = pattern.description,
                             .sourceFile = {},
                             .source = {},
                             .parameters = {},
                             .facts = pattern.facts};
  for (const patterns::Parameter& one : pattern.parameters) {
    info.parameters.push_back(
        {.name = one.name, .values = one.values, .standard = one.standard, .description = one.description});
  }
  writeExample(pattern, catalogue, info);
  return info;
}

}  // namespace

Result<std::vector<services::PatternInfo>> PatternServiceImpl::patterns() const {
  SWAGE_TRY_ASSIGN(const patterns::Catalogue catalogue, patterns::Catalogue::load(m_folder));
  std::vector<services::PatternInfo> infos;
  std::transform(catalogue.all().begin(), catalogue.all().end(), std::back_inserter(infos),
                 [&](const patterns::Pattern& pattern) { return infoOf(pattern, catalogue); });
  std::sort(infos.begin(), infos.end(),
            [](const auto& a, const auto& b) { return std::tie(a.language, a.id) < std::tie(b.language, b.id); });
  return infos;
}

}  // namespace swage::engine
