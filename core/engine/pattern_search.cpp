// SPDX-License-Identifier: Apache-2.0
#include "core/engine/pattern_search.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <utility>

#include "core/base/log.h"
#include "core/retrieval/learning.h"
#include "core/retrieval/sources.h"

namespace swage::engine {

PatternPlaces PatternPlaces::standard(const process::Locations& locations, const std::filesystem::path& project) {
  PatternPlaces places;
  places.index = process::cacheFolder() / "patterns.sqlite";
  places.catalogue = locations.patterns;
  places.dataSheets = locations.rules.parent_path() / "devices";  // resources lie beside each other
  places.python = locations.python;
  const char* cutlass = std::getenv("SWAGE_CUTLASS");  // NOLINT(concurrency-mt-unsafe): nothing sets it any more
  places.cutlass = cutlass != nullptr ? cutlass : "";
  places.projects = process::knownProjects();
  std::error_code ignored;
  const auto isSame = [&](const std::filesystem::path& known) {
    return std::filesystem::equivalent(known, project, ignored);
  };
  if (!project.empty() && std::none_of(places.projects.begin(), places.projects.end(), isSame)) {
    places.projects.push_back(std::filesystem::absolute(project, ignored).lexically_normal());
  }
  return places;
}

Result<PatternSearch> PatternSearch::open(const PatternPlaces& places) {
  std::vector<retrieval::Unit> units = retrieval::catalogueUnits(places.catalogue);
  for (auto more : {retrieval::dataSheetUnits(places.dataSheets), retrieval::pythonUnits(places.python),
                    places.cutlass.empty() ? std::vector<retrieval::Unit>() : retrieval::cutlassUnits(places.cutlass),
                    retrieval::recordUnits(places.projects)}) {
    std::move(more.begin(), more.end(), std::back_inserter(units));
  }
  SWAGE_TRY_ASSIGN(store::PatternIndex opened, store::PatternIndex::open(places.index));
  auto index = std::make_unique<store::PatternIndex>(std::move(opened));
  SWAGE_TRY_ASSIGN(const retrieval::Refreshed refreshed, retrieval::refresh(*index, units));
  log::info("patterns: {} units read, {} gone", refreshed.units, refreshed.gone);
  SWAGE_TRY_ASSIGN(retrieval::Finder finder, retrieval::Finder::over(*index));
  return PatternSearch(std::move(index), std::move(finder));
}

}  // namespace swage::engine
