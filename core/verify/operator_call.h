// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/domain/graph.h"

namespace swage::verify {

// How the nodes of a graph are to be called.
struct CallMode {
  c10::Device device = c10::Device(c10::kCPU);
  // Every explicit floating dtype in the arguments becomes this one (the reference runs in float64).
  std::optional<at::ScalarType> widenTo;
};

// The values of a graph while it runs, indexed by ValueId. An undefined tensor stands for "not there".
using Slots = std::vector<at::Tensor>;

// One node, its operator looked up and its arguments converted by the operator's schema, so that a call only has to
// fill in the tensors. Running may throw c10::Error.
class OperatorCall {
 public:
  // Fails with kind Unsupported when PyTorch has no such operator, and with InvalidInput when arguments do not fit.
  [[nodiscard]] static Result<OperatorCall> bind(const domain::Node& node, const CallMode& mode);

  void run(Slots& slots) const;

  // The two halves of run(), for callers that replace the operator in between.
  [[nodiscard]] torch::jit::Stack arguments(const Slots& slots) const;
  void store(torch::jit::Stack& results, Slots& slots) const;

  [[nodiscard]] const c10::OperatorHandle& handle() const { return m_operator; }
  [[nodiscard]] const std::string& name() const { return m_name; }

 private:
  enum class PatchKind : unsigned char { Tensor, TensorList, OptionalTensorList };
  struct Patch {
    std::size_t argument = 0;
    PatchKind kind = PatchKind::Tensor;
    std::vector<domain::ValueId> ids;  // invalid: None
  };
  struct Binder;

  OperatorCall(std::string name, const c10::OperatorHandle& handle) : m_name(std::move(name)), m_operator(handle) {}

  std::string m_name;
  c10::OperatorHandle m_operator;
  torch::jit::Stack m_template;  // None where a patch goes
  std::vector<Patch> m_patches;
  std::vector<domain::ValueId> m_outputs;
};

// "aten.softmax.int" to PyTorch's operator; no value when it has none.
[[nodiscard]] std::optional<c10::OperatorHandle> findOperator(const std::string& op);

}  // namespace swage::verify
