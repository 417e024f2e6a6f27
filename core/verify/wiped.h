// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <utility>
#include <vector>

namespace swage::verify {

// Overwrites what a tensor holds, with NaN where it can, if nobody else holds it or its memory. Does not wait for the
// device. Allocators leave in memory what was there when it is freed, and a kernel that reads what it was not given
// must not find the answers of an earlier run. Never throws: a device on which this fails is lost.
void wipe(const at::Tensor& tensor) noexcept;

// A tensor that is wiped when this ends. Empty by default.
class Wiped {
 public:
  Wiped() = default;
  explicit Wiped(at::Tensor tensor) : m_tensor(std::move(tensor)) {}
  ~Wiped() { wipe(m_tensor); }
  Wiped(Wiped&& other) noexcept : m_tensor(std::exchange(other.m_tensor, {})) {}
  Wiped& operator=(Wiped&&) = delete;
  Wiped(const Wiped&) = delete;
  Wiped& operator=(const Wiped&) = delete;

  [[nodiscard]] const at::Tensor& operator*() const { return m_tensor; }
  [[nodiscard]] const at::Tensor* operator->() const { return &m_tensor; }

 private:
  at::Tensor m_tensor;
};

// The same for what a run has computed: one tensor may be there twice.
class WipedTensors {
 public:
  WipedTensors() = default;
  explicit WipedTensors(std::vector<at::Tensor> tensors) : m_tensors(std::move(tensors)) {}
  ~WipedTensors() { clear(); }
  WipedTensors(WipedTensors&& other) noexcept : m_tensors(std::exchange(other.m_tensors, {})) {}
  WipedTensors& operator=(WipedTensors&& other) noexcept;
  WipedTensors(const WipedTensors&) = delete;
  WipedTensors& operator=(const WipedTensors&) = delete;

  void clear() noexcept;
  [[nodiscard]] bool empty() const { return m_tensors.empty(); }
  [[nodiscard]] std::size_t size() const { return m_tensors.size(); }
  [[nodiscard]] const at::Tensor& operator[](std::size_t index) const { return m_tensors[index]; }
  [[nodiscard]] const std::vector<at::Tensor>& all() const { return m_tensors; }

 private:
  std::vector<at::Tensor> m_tensors;
};

}  // namespace swage::verify
