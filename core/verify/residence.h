// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "core/device/kernel_memory.h"
#include "core/domain/launch_plan.h"

namespace swage::verify {

// Which copy of each of a plan's buffers is the current one during a run: this process' tensor, the kernels', or both.
// Where kernels work on the tensors themselves (no memory of their own) all of this does nothing.
class Residence {
 public:
  Residence() = default;
  // Both outlive this.
  Residence(const domain::LaunchPlan& plan, device::KernelMemory* memory);

  [[nodiscard]] bool isSeparate() const { return m_memory != nullptr; }
  [[nodiscard]] device::KernelMemory* memory() const { return m_memory; }

  void beginChecked();
  // One tensor for each input of the plan, as Device::timeColdAfter() may be given them: see KernelMemory.
  [[nodiscard]] device::DeviceStatus beginTimed(std::span<const at::Tensor> inputs, std::size_t set);
  // Between a timed beginning and its end.
  [[nodiscard]] bool isStaged() const { return m_isStaged; }
  void end();

  // A buffer that was allocated and holds nothing yet.
  void isNew(std::size_t buffer);
  // A kernel or a zero step may have written it.
  void isWritten(std::size_t buffer);
  // This process has computed it.
  void isReplaced(std::size_t buffer);
  [[nodiscard]] bool isMissingInKernels(std::size_t buffer) const;
  [[nodiscard]] bool isMissingHere(std::size_t buffer) const;
  // Where it is missing.
  [[nodiscard]] device::DeviceStatus bring(std::size_t buffer, const at::Tensor& tensor);
  [[nodiscard]] device::DeviceStatus take(std::size_t buffer, const at::Tensor& tensor);

  // Outputs that are taken when a timed call is over.
  void promise(std::size_t buffer, at::Tensor tensor) { m_promised.emplace_back(buffer, std::move(tensor)); }
  // Takes them, and ends.
  [[nodiscard]] device::DeviceStatus collect();

 private:
  enum class Current : std::uint8_t { Here, Kernels, Both };

  const domain::LaunchPlan* m_plan = nullptr;
  device::KernelMemory* m_memory = nullptr;
  std::vector<Current> m_current;
  std::vector<bool> m_isInput;
  std::vector<std::pair<std::size_t, at::Tensor>> m_promised;
  bool m_isStaged = false;
};

}  // namespace swage::verify
