// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workbench/replay_profiles.h"

namespace swage::workbench {

void ReplayProfiles::start(const std::filesystem::path&, domain::CandidateId candidate) {
  Q_EMIT finished(candidate, Error(ErrorKind::Unsupported, "the demo cannot profile: it only replays a recorded run",
                                   "start swage-workbench without --demo"));
}

}  // namespace swage::workbench
