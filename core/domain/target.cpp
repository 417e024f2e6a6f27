// SPDX-License-Identifier: Apache-2.0
#include "core/domain/target.h"

namespace swage::domain {

std::string_view name(Target target) {
  switch (target) {
    case Target::Cpu: return "cpu";
    case Target::Cuda: return "cuda";
  }
  return "unknown";
}

std::optional<Target> parseTarget(std::string_view text) {
  for (const Target target : {Target::Cpu, Target::Cuda}) {
    if (name(target) == text) {
      return target;
    }
  }
  return std::nullopt;
}

}  // namespace swage::domain
