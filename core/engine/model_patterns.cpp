// SPDX-License-Identifier: Apache-2.0
#include "core/engine/model_patterns.h"

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/log.h"

namespace swage::engine {

models::PatternsFor patternsFrom(const PatternPlaces& places) {
  auto opened = PatternSearch::open(places);
  if (!opened) {
    log::info("models get no patterns: {}", opened.error().message());
    return {};
  }
  const auto search = std::make_shared<const PatternSearch>(std::move(*opened));
  return [search](const std::string& question, const std::string& architecture) {
    constexpr int kMost = 3;
    std::vector<models::PatternHint> hints;
    if (const auto found = search->find({.text = question, .architecture = architecture, .limit = kMost})) {
      for (const retrieval::Found& one : *found) {
        hints.push_back(
            {one.entry.title, std::string(domain::name(one.entry.origin)), one.entry.summary, one.entry.body});
      }
    }
    return hints;
  };
}

models::PatternsFor patternsMeanwhile(std::function<PatternPlaces()> places) {
  const std::shared_future<models::PatternsFor> opened =
      std::async(std::launch::async, [places = std::move(places)] { return patternsFrom(places()); });
  return [opened](const std::string& question, const std::string& architecture) {
    const bool isOpen = opened.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
    return isOpen && opened.get() ? opened.get()(question, architecture) : std::vector<models::PatternHint>();
  };
}

}  // namespace swage::engine
