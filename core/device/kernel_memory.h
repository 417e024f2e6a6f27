// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/device/failure.h"

namespace swage::device {

// The buffers of a plan, where its kernels compute in memory of their own: those of a CPU, which run in another process
// (core/device/cell.h). Whoever runs the plan brings what kernels read and takes what they have written. Buffers go by
// their index in the plan. One thread.
class KernelMemory {
 public:
  enum class Use : std::uint8_t {
    Checked,  // inputs cannot be written, and everything ends at a guard page
    Timed,    // memory as PyTorch's tensors have it
  };
  struct Input {
    std::size_t buffer = 0;
    const void* from = nullptr;
  };

  KernelMemory() = default;
  virtual ~KernelMemory() = default;
  KernelMemory(const KernelMemory&) = delete;
  KernelMemory& operator=(const KernelMemory&) = delete;

  // Whether a kernel or a zero step names the buffer.
  [[nodiscard]] virtual bool holds(std::size_t buffer) const = 0;

  // Until end(), launches and everything below are about this use.
  virtual void beginChecked() = 0;
  // The inputs are brought unless they were for this `set` before, and results of earlier runs are cleared.
  [[nodiscard]] virtual DeviceStatus beginTimed(std::size_t set, std::span<const Input> inputs) = 0;
  // Sets of inputs have changed.
  virtual void forgetInputs() = 0;
  virtual void end() = 0;

  // None of this is counted by Device::timeColdAfter().
  // This process is about to compute, with threads of its own: those of the kernels leave the processors to them. To be
  // called before anything in a run that is not below; the next launch takes the processors back.
  virtual void yield() = 0;
  [[nodiscard]] virtual DeviceStatus bring(std::size_t buffer, const void* from) = 0;
  [[nodiscard]] virtual DeviceStatus take(std::size_t buffer, void* to) = 0;
  // This is.
  [[nodiscard]] virtual DeviceStatus zero(std::size_t buffer) = 0;

  // Fails where a kernel wrote beside a buffer, or left a thread with other arithmetic. After a run.
  [[nodiscard]] virtual DeviceStatus inspect() = 0;
  // How long one launch may take.
  virtual void setLimit(double seconds) = 0;
};

}  // namespace swage::device
