// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace swage::process {

// What a worker's environment has beside ours.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> workerEnvironment();

}  // namespace swage::process
