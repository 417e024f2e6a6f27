// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace swage::process {

// How to start a program of ours: an argv, never a shell string. `ssh host swage-worker …` is as good as a path.
struct LaunchCommand {
  std::string program{};
  std::vector<std::string> arguments{};
  std::vector<std::pair<std::string, std::string>> environment{};  // added to ours
};

}  // namespace swage::process
