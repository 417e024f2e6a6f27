// SPDX-License-Identifier: Apache-2.0
#include "core/engine/pattern_service_impl.h"

#include <algorithm>
#include <tuple>

#include "core/patterns/catalogue.h"

namespace swage::engine {
namespace {

services::PatternInfo infoOf(const patterns::Pattern& pattern) {
  services::PatternInfo info{.id = pattern.id,
                             .target = std::string(domain::name(pattern.target)),
                             .family = pattern.family,
                             .description = pattern.description,
                             .sourceFile = pattern.sourceFile,
                             .source = pattern.source,
                             .parameters = {},
                             .facts = pattern.facts};
  for (const patterns::Parameter& one : pattern.parameters) {
    info.parameters.push_back(
        {.name = one.name, .values = one.values, .standard = one.standard, .description = one.description});
  }
  return info;
}

}  // namespace

Result<std::vector<services::PatternInfo>> PatternServiceImpl::patterns() const {
  SWAGE_TRY_ASSIGN(const patterns::Catalogue catalogue, patterns::Catalogue::load(m_folder));
  std::vector<services::PatternInfo> infos;
  std::transform(catalogue.all().begin(), catalogue.all().end(), std::back_inserter(infos), infoOf);
  std::sort(infos.begin(), infos.end(),
            [](const auto& a, const auto& b) { return std::tie(a.target, a.id) < std::tie(b.target, b.id); });
  return infos;
}

}  // namespace swage::engine
