// SPDX-License-Identifier: Apache-2.0
#include "core/verify/timed_streams.h"

#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <optional>

#include "core/verify/stream_turn.h"
#include "core/verify/torch_failure.h"

namespace swage::verify {
namespace {

// libtorch makes the streams of a priority together and hands them out in turns, four priorities on CUDA. Taken from
// all of them, and from far apart in each, they are kept at different places.
constexpr std::size_t kPriorities = 4;
constexpr std::size_t kStreamsOfPriority = 32;

}  // namespace

void TimedStreams::open(c10::Device where, std::size_t count) {
  const auto* streams = c10::impl::getDeviceGuardImpl(where.type());
  std::vector<std::vector<c10::Stream>> made(std::min(count, kPriorities));
  for (std::size_t priority = 0; priority < made.size(); ++priority) {
    for (std::size_t i = 0; i < kStreamsOfPriority; ++i) {
      made[priority].push_back(streams->getNewStream(where, -static_cast<int>(priority)));
    }
  }
  const std::size_t fromEach = (count + kPriorities - 1) / kPriorities;
  m_streams.clear();
  for (std::size_t i = 0; i < count; ++i) {
    m_streams.push_back(made[i % made.size()][i / made.size() * (kStreamsOfPriority / fromEach)]);
  }
}

device::DeviceResult<device::CallTime> TimedStreams::time(std::size_t number, std::size_t sets,
                                                          const device::Device::Call& before,
                                                          const device::Device::Call& call,
                                                          const std::function<void()>& after) const {
  // What was issued to other streams has ended before the device issues anything: timing waits for it first.
  std::optional<StreamTurn> turn;
  if (!m_streams.empty()) {
    if (const auto failed =
            attempt([&] { turn.emplace(m_device, m_streams[streamOf(number, m_streams.size(), sets)]); })) {
      return tl::make_unexpected(asDeviceFailure(*failed));
    }
  }
  auto time = m_device.timeColdAfter(before, call);
  if (after) {
    after();
  }
  return time;
}

void TimedStreams::forEach(const std::function<void()>& work) const {
  for (const c10::Stream& stream : m_streams) {
    const StreamTurn turn(m_device, stream);
    work();
    const device::DeviceStatus failed = m_device.synchronize();
    TORCH_CHECK(!failed, failed->detail);
  }
}

}  // namespace swage::verify
