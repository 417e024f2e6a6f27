// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/StreamGuard.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <cstdint>

#include "core/device/device.h"

namespace swage::verify {

// Both libtorch and the device use the stream while this lives. May throw c10::Error.
class StreamTurn {
 public:
  StreamTurn(device::Device& device, const c10::Stream& stream) : m_device(device), m_guard(stream) {
    m_device.useStream(c10::impl::getDeviceGuardImpl(stream.device_type())->getStreamNativeHandle(stream));
  }
  ~StreamTurn() { m_device.useStream(nullptr); }
  StreamTurn(const StreamTurn&) = delete;
  StreamTurn& operator=(const StreamTurn&) = delete;

 private:
  device::Device& m_device;
  c10::StreamGuard m_guard;
};

// A CUstream that libtorch did not make: it names such streams by their address (c10/cuda/CUDAStream.cpp).
[[nodiscard]] inline c10::Stream foreignStream(c10::Device where, void* stream) {
  return c10::Stream(c10::Stream::UNSAFE, where, static_cast<c10::StreamId>(reinterpret_cast<std::intptr_t>(stream)));
}

}  // namespace swage::verify
