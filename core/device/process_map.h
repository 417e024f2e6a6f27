// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace swage::device {

// Which files a process has mapped where, at one moment.
class ProcessMap {
 public:
  // Empty where the system does not say.
  [[nodiscard]] static ProcessMap of(pid_t process);
  // The text of /proc/PID/maps.
  explicit ProcessMap(std::string_view text);

  struct Location {
    std::string_view file;    // as the system calls it; valid as long as the map
    std::int64_t offset = 0;  // from where the file is mapped first
  };
  // No value: no file is there.
  [[nodiscard]] std::optional<Location> find(std::uint64_t address) const;

 private:
  struct Range {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t base = 0;
    std::string file;
  };
  std::vector<Range> m_ranges;
};

}  // namespace swage::device
