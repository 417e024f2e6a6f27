// SPDX-License-Identifier: Apache-2.0
#include "core/engine/chosen_models.h"

#include <sstream>
#include <utility>

#include "core/engine/model_endpoints.h"
#include "core/engine/model_patterns.h"
#include "core/engine/relative_kernels.h"
#include "core/engine/settings_file.h"
#include "core/run/model_proposer.h"

namespace swage::engine {
namespace {

constexpr double kCents = 100.0;

template <class Value>
Value valueOf(const services::Settings& settings, std::string_view name, Value standard) {
  const auto found = settings.find(name);
  const auto* value = found == settings.end() ? nullptr : std::get_if<Value>(&found->second);
  return value == nullptr ? std::move(standard) : *value;
}

std::vector<std::string> namesIn(const std::string& list) {
  std::vector<std::string> names;
  std::istringstream words(list);
  for (std::string word; std::getline(words, word, ',');) {
    const std::size_t first = word.find_first_not_of(' ');
    if (first != std::string::npos) {
      names.push_back(word.substr(first, word.find_last_not_of(' ') - first + 1));
    }
  }
  return names;
}

}  // namespace

Result<std::vector<run::ProposerFactory>> chosenModels(const std::filesystem::path& settings,
                                                       std::shared_ptr<const models::KeyRing> keys,
                                                       services::RunSpec& spec, std::function<PatternPlaces()> places) {
  SWAGE_TRY_ASSIGN(const services::Settings set, SettingsFile(settings).load());
  std::vector<std::string> names = namesIn(valueOf(set, "swarm.models", std::string()));
  if (valueOf(set, "swarm.by_hand", false)) {
    names.push_back("exchange:" + (spec.project / "exchange").string());
  }
  if (names.empty()) {
    return std::vector<run::ProposerFactory>();
  }
  SWAGE_TRY_ASSIGN(const std::vector<models::Endpoint> all, readEndpoints(settings));
  run::ModelUse use;
  use.keys = std::move(keys);
  SWAGE_TRY_ASSIGN(use.endpoints, chooseEndpoints(all, names));
  if (spec.budgetUsd <= 0.0) {
    spec.budgetUsd = static_cast<double>(valueOf(set, "swarm.budget_cents", std::int64_t{0})) / kCents;
  }
  if (spec.budgetTokens <= 0) {
    spec.budgetTokens = valueOf(set, "swarm.budget_tokens", std::int64_t{0});
  }
  use.limits.usd = spec.budgetUsd > 0.0 ? std::optional(spec.budgetUsd) : std::nullopt;
  use.limits.tokens = spec.budgetTokens > 0 ? std::optional(spec.budgetTokens) : std::nullopt;
  use.relativeFor = relativesMeanwhile([places] { return places().projects; });
  use.patternsFor = patternsMeanwhile(std::move(places));
  return run::modelProposers(use);
}

}  // namespace swage::engine
