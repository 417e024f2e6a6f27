// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/Stream.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <vector>

#include "core/device/device.h"

namespace swage::verify {

// Which of `streams` a call is on that reads the working set `call % sets`: both are taken in order, and every stream
// meets every set before a pair comes again.
[[nodiscard]] constexpr std::size_t streamOf(std::size_t call, std::size_t streams, std::size_t sets) {
  const std::size_t meetings = std::max<std::size_t>(1, std::lcm(streams, sets));
  return (call + call / meetings) % streams;
}

// Streams of libtorch that timed calls take turns on, because one stream is a matter of luck: a launch takes 1.73 or
// 1.87 us on an H200, the same for some 40 streams that were made one after the other, and drawn anew by every process
// (measured with empty kernels on 192 streams in each of 20 processes). In turns on 8, and with 1,000 samples instead
// of 200, the medians of a kernel of 30 us in ten processes agreed within 0.43 % to 0.70 % in four runs of `swage bench
// engine`; before, within 0.70 % to 1.5 %.
class TimedStreams {
 public:
  // On the default stream.
  explicit TimedStreams(device::Device& device) : m_device(device) {}

  // Takes `count` streams of `where`, a CUDA device. May throw c10::Error.
  void open(c10::Device where, std::size_t count);
  // Back to the default stream.
  void close() { m_streams.clear(); }
  // As Device::timeColdAfter, on the stream whose turn it is: `number` counts the calls of a series, whose inputs take
  // turns on `sets` working sets. Streams belong to the timed calls only. `after` issues what else there is to do on
  // that stream, untimed: memory is freed for the stream that had it.
  [[nodiscard]] device::DeviceResult<device::CallTime> time(std::size_t number, std::size_t sets,
                                                            const device::Device::Call& before,
                                                            const device::Device::Call& call,
                                                            const std::function<void()>& after = {}) const;
  // Does something on each of the streams, one after the other. What it throws is thrown on.
  void forEach(const std::function<void()>& work) const;
  // At least 1.
  [[nodiscard]] std::size_t count() const { return m_streams.empty() ? 1 : m_streams.size(); }

 private:
  device::Device& m_device;
  std::vector<c10::Stream> m_streams;  // empty: the default one
};

}  // namespace swage::verify
