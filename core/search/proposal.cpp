// SPDX-License-Identifier: Apache-2.0
#include "core/search/proposal.h"

#include <cmath>

namespace swage::search {

bool isTimed(const Outcome& outcome) {
  const bool ran = outcome.kind == Outcome::Kind::Correct || outcome.kind == Outcome::Kind::ScreenedOut;
  return ran && std::isfinite(outcome.overEager.value) && outcome.overEager.isKnown();
}

}  // namespace swage::search
