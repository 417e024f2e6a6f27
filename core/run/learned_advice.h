// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/domain/advice_experience.h"
#include "core/domain/device_info.h"
#include "core/judge/swarm.h"
#include "core/run/run_context.h"
#include "core/services/types.h"
#include "core/store/record.h"

// What the advice of a run came to, kept for the next run of this user on such a device.
namespace swage::run {

// Of all sittings of the run, by rule and role.
[[nodiscard]] Result<std::vector<domain::AdviceExperience>> experienceOf(const store::Record& record,
                                                                         domain::RunId run);
// What the run is called among all of this user.
[[nodiscard]] std::string learnedName(const std::filesystem::path& project, domain::RunId run);

// `file`: core/store/knowledge.h. A run that followed no advice leaves it as it is.
[[nodiscard]] Result<> keepExperience(const std::filesystem::path& file, const store::Record& record, domain::RunId run,
                                      const std::filesystem::path& project, const domain::DeviceInfo& device);
// The credit with which rules and roles begin. How many pieces of advice were followed to earn it; 0: nothing is known.
[[nodiscard]] Result<std::int64_t> takeUpExperience(const std::filesystem::path& file, const std::string& except,
                                                    const domain::DeviceInfo& device, judge::Swarm& swarm);

// Both for a whole run, at the begin and at the end of its search. A search does not depend on what another run has
// left behind: what goes wrong is only told, by what these give.
[[nodiscard]] std::optional<services::Notice> beginWithExperience(const RunContext& context, judge::Swarm& swarm);
[[nodiscard]] std::optional<services::Notice> leaveExperience(const RunContext& context);

}  // namespace swage::run
