// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <unordered_set>
#include <vector>

#include "core/domain/candidate.h"

namespace swage::search {

// Every genome that was ever proposed, by its canonical text.
class TriedGenomes {
 public:
  // Adds it; false when it was there already.
  bool add(const domain::Genome& genome);
  [[nodiscard]] bool contains(const domain::Genome& genome) const;
  [[nodiscard]] std::size_t size() const { return m_texts.size(); }
  // Sorted, to compare two searches.
  [[nodiscard]] std::vector<std::string> texts() const;

 private:
  std::unordered_set<std::string> m_texts;  // for membership only: its order is not the same everywhere
};

}  // namespace swage::search
