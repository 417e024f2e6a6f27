// SPDX-License-Identifier: Apache-2.0
#include "core/domain/profile.h"

namespace swage::domain {

std::string_view name(ProfileSource source) {
  switch (source) {
    case ProfileSource::Counters: return "counters";
    case ProfileSource::Activity: return "activity";
    case ProfileSource::Compiler: return "compiler";
  }
  return "unknown";
}

std::optional<ProfileSource> parseProfileSource(std::string_view text) {
  for (const ProfileSource source : {ProfileSource::Counters, ProfileSource::Activity, ProfileSource::Compiler}) {
    if (name(source) == text) {
      return source;
    }
  }
  return std::nullopt;
}

}  // namespace swage::domain
