// SPDX-License-Identifier: Apache-2.0
#include "core/synth/emit/group_values.h"

#include <algorithm>

namespace swage::synth {

std::vector<int> groupValues(const Region& region, int ready) {
  std::vector<bool> wanted(region.prims.size(), false);
  const auto want = [&](int prim) { wanted[static_cast<std::size_t>(prim)] = true; };
  for (const Prim& prim : region.prims) {
    if (prim.perElement) {
      std::for_each(prim.args.begin(), prim.args.end(), want);
    }
  }
  for (const Fold& fold : region.folds) {
    want(fold.input);
  }
  for (const Store& store : region.elementStores) {
    want(store.prim);
  }
  std::vector<int> prims;
  for (std::size_t i = 0; i < region.prims.size(); ++i) {
    const Prim& prim = region.prims[i];
    const bool isKnown = !prim.perElement && prim.ready == ready;
    if (isKnown && (prim.kind == Prim::Kind::Load || (prim.kind == Prim::Kind::Call && wanted[i]))) {
      prims.push_back(static_cast<int>(i));
    }
  }
  return prims;
}

}  // namespace swage::synth
