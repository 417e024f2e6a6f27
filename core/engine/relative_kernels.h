// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/models/prompt.h"

// What models are told of the task that they work at, from where it was searched before: on another device.
namespace swage::engine {

// The best winner of the finished runs of a task on devices of another architecture. No value: there is none that can
// be read.
[[nodiscard]] std::optional<models::RelativeFacts> relativeIn(const std::vector<std::filesystem::path>& projects,
                                                              const std::string& task,
                                                              const domain::DeviceInfo& device);

// Looks on a thread of its own, once for each task and architecture, which asks for `projects`, too; nothing is found
// until then. What it gives is asked on one thread at a time.
[[nodiscard]] models::RelativeFor relativesMeanwhile(std::function<std::vector<std::filesystem::path>()> projects);

}  // namespace swage::engine
