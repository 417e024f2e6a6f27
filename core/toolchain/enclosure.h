// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace swage::toolchain {

// What a program may do that runs where the system has no user namespaces: SandboxMode::Landlock.
struct Enclosure {
  std::vector<std::string> readable;  // files and folders, with all that is in them
  std::vector<std::string> writable;
  std::vector<std::string> command;
};

// Gives up everything else for ever, by Landlock and a filter of system calls, and becomes the program. Returns only
// when that failed: why. One thread.
[[nodiscard]] std::string becomeEnclosed(const Enclosure& enclosure);

// Of the arguments behind "--enclose": "--read PATH" and "--write PATH" as often as wanted, "--", the command.
[[nodiscard]] Enclosure parseEnclosure(const std::vector<std::string>& arguments);

}  // namespace swage::toolchain
