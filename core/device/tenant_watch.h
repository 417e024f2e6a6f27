// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace swage::device {

// What one process did on a GPU at one moment.
struct ProcessUse {
  unsigned process = 0;
  std::uint64_t time = 0;  // of the library's own clock
  unsigned percent = 0;    // of the time that kernels of it ran
};

// Says whether other processes compute on the GPU while this one measures. One that only holds memory there disturbs
// nobody. Asks a few times a second at most, and forgets what was seen while nobody was measuring. Not thread-safe.
class TenantWatch {
 public:
  // Samples taken after `since`, newest or oldest first; nothing where nobody can tell.
  using Query = std::function<std::vector<ProcessUse>(std::uint64_t since)>;
  using Clock = std::function<double()>;  // seconds

  TenantWatch(Query query, Clock clock, unsigned self);
  [[nodiscard]] bool isShared();

 private:
  Query m_query;
  Clock m_clock;
  unsigned m_self;
  std::optional<double> m_asked;
  std::uint64_t m_seen = 0;
  bool m_shared = false;
};

}  // namespace swage::device
