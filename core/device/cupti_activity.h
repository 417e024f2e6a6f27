// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace swage::device {

// When something ran on the device, in nanoseconds of the device's own clock.
struct ActivitySpan {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
};

// Nanoseconds in which at least one span runs: what overlaps, on two streams, counts once.
[[nodiscard]] double busyNanoseconds(std::vector<ActivitySpan> spans);

// CUPTI's activity records of kernels, copies and fills on all streams of this process. CUPTI knows one client, so one
// object at a time; not thread-safe. Recording slows launches down: never on while something is timed.
class CuptiActivity {
 public:
  // `library` is a path or a name for the loader; empty: as loadCupti() finds it. Fails with kind
  // Environment.
  [[nodiscard]] static Result<std::unique_ptr<CuptiActivity>> open(const std::string& library = {});
  ~CuptiActivity();
  CuptiActivity(const CuptiActivity&) = delete;
  CuptiActivity& operator=(const CuptiActivity&) = delete;

  [[nodiscard]] Result<> start();
  // After the device has finished: what ran since start(). Records nothing any more, also when it fails, as it does
  // when CUPTI lost records.
  [[nodiscard]] Result<std::vector<ActivitySpan>> stop();

 private:
  struct Library;
  explicit CuptiActivity(std::unique_ptr<Library> library);

  std::unique_ptr<Library> m_library;
};

}  // namespace swage::device
