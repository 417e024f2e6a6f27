// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace swage::cell {

// Each of these takes something away from this process for ever. An empty string: done; else why not. What the system
// does not offer at all is added to `gaps` (device::CellGap).

// No file can be opened or made from here on, by Landlock; memory files that are open already can. Where the system has
// no Landlock the system calls alone are what keeps files away.
[[nodiscard]] std::string closeFiles(std::uint32_t& gaps);

// No core file, no file, no further descriptors, `memoryBytes` of address space.
[[nodiscard]] std::string limitResources(std::uint64_t memoryBytes);

// While the candidate is loaded: what the loader needs, and no program, process, network or other process's memory.
[[nodiscard]] std::string allowLoadingOnly(std::uint32_t& gaps);

// From then on, for all threads: what threads, their stacks and their waiting need. Any other system call ends the
// process. No memory can become executable. A thread can choose its own processors.
[[nodiscard]] std::string allowComputingOnly();

}  // namespace swage::cell
