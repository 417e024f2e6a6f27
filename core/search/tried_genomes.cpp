// SPDX-License-Identifier: Apache-2.0
#include "core/search/tried_genomes.h"

#include <algorithm>

namespace swage::search {

bool TriedGenomes::add(const domain::Genome& genome) {
  return m_texts.insert(domain::canonicalText(genome)).second;
}

bool TriedGenomes::contains(const domain::Genome& genome) const {
  return m_texts.contains(domain::canonicalText(genome));
}

std::vector<std::string> TriedGenomes::texts() const {
  std::vector<std::string> sorted(m_texts.begin(), m_texts.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

}  // namespace swage::search
