// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/device/conditions.h"

namespace swage::device {

// What the management library says of a GPU. Empty or 0 where it is missing or does not know: nothing depends on it.
struct NvmlFacts {
  std::string driverVersion;
  int smClockMhz = 0;  // now
  int maxSmClockMhz = 0;
  int memoryClockMhz = 0;   // now
  bool isInstance = false;  // part of a GPU in multi-instance mode (MIG); its clocks are the whole GPU's
};

inline constexpr const char* kNvmlLibrary = "libnvidia-ml.so.1";

// The management library, opened once for one GPU and shut down at destruction. A sample costs a few calls of the
// library, together well below a millisecond. Not thread-safe.
class NvmlSession {
 public:
  // `uuid` as the library spells it: "GPU-…". Never fails: without the library, or where it does not know the GPU,
  // nothing is known. `library` is another one's path in tests.
  [[nodiscard]] static std::unique_ptr<NvmlSession> open(const std::string& uuid, const char* library = kNvmlLibrary);
  ~NvmlSession();
  NvmlSession(const NvmlSession&) = delete;
  NvmlSession& operator=(const NvmlSession&) = delete;

  [[nodiscard]] NvmlFacts facts() const;
  [[nodiscard]] ConditionSample sample();

 private:
  struct Library;
  explicit NvmlSession(std::unique_ptr<Library> library);

  std::unique_ptr<Library> m_library;
};

// The words for a mask of nvmlClocksEventReasons. Idleness is no reason: between two calls every GPU is idle.
[[nodiscard]] std::vector<std::string> clockReasons(std::uint64_t mask);
// Whether the hardware itself slows down, for heat or by the supply's order: it will be as fast as before when that is
// over. The cap of the power limit does not count: a kernel that draws so much runs at these clocks every time. Nor do
// clocks that somebody has set.
[[nodiscard]] bool isThrottled(std::uint64_t mask);

}  // namespace swage::device
