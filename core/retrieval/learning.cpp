// SPDX-License-Identifier: Apache-2.0
#include "core/retrieval/learning.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>

#include "core/base/log.h"

namespace swage::retrieval {
namespace {

constexpr const char* kRarity = "rarity";
// Changes with how pieces become vectors: an index of another version is made anew.
constexpr const char* kVersion = "version";
constexpr const char* kVersionNow = "1";

std::vector<domain::PatternEntry> readUnit(const Unit& unit) {
  Result<std::vector<domain::PatternEntry>> entries = unit.read();
  if (!entries) {
    log::info("not indexed: {}", entries.error().message());
    return {};
  }
  return std::move(*entries);
}

// What is not in the index as it is now.
struct Difference {
  std::vector<const Unit*> changed;
  std::vector<std::string> gone;
  std::size_t known = 0;

  [[nodiscard]] bool isNothing() const { return changed.empty() && gone.empty(); }
  // So much that the rarity of words has changed, too.
  [[nodiscard]] bool isLarge() const {
    constexpr std::size_t kShare = 10;
    return (changed.size() + gone.size()) * kShare > known;
  }
};

Difference differenceOf(const std::map<std::string, std::string>& known, const std::vector<Unit>& units) {
  Difference difference;
  difference.known = known.size();
  std::set<std::string> names;
  for (const Unit& unit : units) {
    const auto found = known.find(unit.name);
    names.insert(unit.name);
    if (found == known.end() || found->second != unit.stamp) {
      difference.changed.push_back(&unit);
    }
  }
  for (const auto& [name, stamp] : known) {
    if (!names.contains(name)) {
      difference.gone.push_back(name);
    }
  }
  return difference;
}

store::PatternIndex::Unit indexed(const Unit& unit, std::vector<domain::PatternEntry> entries, const Rarity& rarity) {
  store::PatternIndex::Unit result{unit.name, unit.stamp, {}};
  for (domain::PatternEntry& entry : entries) {
    std::string vector = toBytes(embed(entry, rarity));
    result.patterns.push_back({0, std::move(entry), std::move(vector)});
  }
  return result;
}

}  // namespace

Result<Rarity> readRarity(const store::PatternIndex& index) {
  SWAGE_TRY_ASSIGN(const std::string bytes, index.value(kRarity));
  return bytes.empty() ? Result<Rarity>(Rarity()) : Rarity::fromBytes(bytes);
}

Result<Refreshed> refresh(store::PatternIndex& index, const std::vector<Unit>& units) {
  SWAGE_TRY_ASSIGN(const auto known, index.units());
  SWAGE_TRY_ASSIGN(const std::string version, index.value(kVersion));
  Difference difference = differenceOf(known, units);
  const bool learns = version != kVersionNow || difference.isLarge();
  if (difference.isNothing() && !learns) {
    return Refreshed{};
  }
  if (learns) {
    difference.changed.clear();
    std::transform(units.begin(), units.end(), std::back_inserter(difference.changed),
                   [](const Unit& unit) { return &unit; });
  }
  SWAGE_TRY_ASSIGN(Rarity rarity, readRarity(index));
  std::vector<std::vector<domain::PatternEntry>> read;
  Rarity counted;
  for (const Unit* unit : difference.changed) {
    read.push_back(readUnit(*unit));
    for (const domain::PatternEntry& entry : read.back()) {
      counted.count(featuresOf(entry));
    }
  }
  if (learns) {
    rarity = std::move(counted);
  }
  std::vector<store::PatternIndex::Unit> written;
  for (std::size_t i = 0; i < difference.changed.size(); ++i) {
    written.push_back(indexed(*difference.changed[i], std::move(read[i]), rarity));
  }
  SWAGE_TRY(index.replace(written, difference.gone));
  if (learns) {
    SWAGE_TRY(index.setValue(kRarity, rarity.toBytes()));
    SWAGE_TRY(index.setValue(kVersion, kVersionNow));
  }
  return Refreshed{difference.changed.size(), difference.gone.size(), learns};
}

}  // namespace swage::retrieval
