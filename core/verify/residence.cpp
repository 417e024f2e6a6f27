// SPDX-License-Identifier: Apache-2.0
#include "core/verify/residence.h"

namespace swage::verify {

using device::DeviceStatus;

Residence::Residence(const domain::LaunchPlan& plan, device::KernelMemory* memory)
    : m_plan(&plan), m_memory(memory), m_current(plan.buffers.size(), Current::Here), m_isInput(plan.buffers.size()) {
  for (const domain::ValueId id : plan.inputs) {
    m_isInput[static_cast<std::size_t>(id.value())] = true;
  }
}

void Residence::beginChecked() {
  if (m_memory != nullptr) {
    m_current.assign(m_current.size(), Current::Here);
    m_promised.clear();
    m_isStaged = false;
    m_memory->beginChecked();
  }
}

DeviceStatus Residence::beginTimed(std::span<const at::Tensor> inputs, std::size_t set) {
  if (m_memory == nullptr) {
    return {};
  }
  m_promised.clear();
  m_current.assign(m_current.size(), Current::Here);
  std::vector<device::KernelMemory::Input> brought;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto buffer = static_cast<std::size_t>(m_plan->inputs[i].value());
    if (m_memory->holds(buffer)) {
      brought.push_back({buffer, inputs[i].const_data_ptr()});
      m_current[buffer] = Current::Both;
    }
  }
  m_isStaged = true;
  return m_memory->beginTimed(set, brought);
}

void Residence::end() {
  m_promised.clear();
  m_isStaged = false;
  if (m_memory != nullptr) {
    m_memory->end();
  }
}

void Residence::isNew(std::size_t buffer) {
  if (m_memory != nullptr && m_memory->holds(buffer)) {
    m_current[buffer] = Current::Kernels;
  }
}

void Residence::isWritten(std::size_t buffer) {
  if (m_memory != nullptr && !m_isInput[buffer]) {
    m_current[buffer] = Current::Kernels;
  }
}

void Residence::isReplaced(std::size_t buffer) {
  if (m_memory != nullptr) {
    m_current[buffer] = Current::Here;
  }
}

bool Residence::isMissingInKernels(std::size_t buffer) const {
  return m_memory != nullptr && m_current[buffer] == Current::Here;
}

bool Residence::isMissingHere(std::size_t buffer) const {
  return m_memory != nullptr && m_current[buffer] == Current::Kernels;
}

DeviceStatus Residence::bring(std::size_t buffer, const at::Tensor& tensor) {
  if (!isMissingInKernels(buffer)) {
    return {};
  }
  m_current[buffer] = Current::Both;
  return m_memory->bring(buffer, tensor.const_data_ptr());
}

DeviceStatus Residence::take(std::size_t buffer, const at::Tensor& tensor) {
  if (!isMissingHere(buffer)) {
    return {};
  }
  m_current[buffer] = Current::Both;
  return m_memory->take(buffer, tensor.mutable_data_ptr());
}

DeviceStatus Residence::collect() {
  DeviceStatus failed;
  for (auto at = m_promised.begin(); !failed && at != m_promised.end(); ++at) {
    failed = take(at->first, at->second);
  }
  failed = failed ? failed : m_memory->inspect();
  end();
  return failed;
}

}  // namespace swage::verify
