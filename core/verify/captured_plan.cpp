// SPDX-License-Identifier: Apache-2.0
#include "core/verify/captured_plan.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_copy.h>
#include <ATen/ops/empty_like.h>

#include <algorithm>
#include <map>
#include <optional>

#include "core/verify/guarded.h"
#include "core/verify/stream_turn.h"
#include "core/verify/tensors.h"
#include "core/verify/torch_failure.h"

namespace swage::verify {
namespace {

using device::DeviceFailure;
using device::DeviceStatus;

constexpr const char* kCapturing = "capturing the plan";
constexpr const char* kLaunching = "launching the captured plan";

StepFailure failureAt(const char* step, DeviceFailure failure) {
  return {step, std::move(failure)};
}

StepFailure failureAt(const char* step, const TorchFailure& thrown) {
  return {step, asDeviceFailure(thrown)};
}

// Those of one type at once: a model in training mode has many small ones, the statistics of its layers.
std::vector<at::Tensor> copiesOf(const std::vector<at::Tensor>& outputs) {
  std::vector<at::Tensor> copies;
  std::map<at::ScalarType, std::pair<std::vector<at::Tensor>, std::vector<at::Tensor>>> groups;
  for (const at::Tensor& output : outputs) {
    copies.push_back(at::empty_like(output));
    auto& [to, from] = groups[output.scalar_type()];
    to.push_back(copies.back());
    from.push_back(output);
  }
  for (const auto& [type, group] : groups) {
    if (group.first.size() == 1) {
      copyInto(group.first.front(), group.second.front());
    } else {
      at::_foreach_copy_(group.first, group.second);
    }
  }
  return copies;
}

}  // namespace

tl::expected<std::unique_ptr<CapturedPlan>, StepFailure> CapturedPlan::capture(const Source& source) {
  std::unique_ptr<CapturedPlan> plan(new CapturedPlan(source));
  const auto stream = source.device.captureStream();
  if (!stream) {
    return tl::make_unexpected(failureAt(kCapturing, stream.error()));
  }
  std::optional<StepFailure> failed;
  const auto thrown = attempt([&] {
    const at::NoGradGuard noGrad;
    std::optional<StreamTurn> turn;
    if (*stream != nullptr) {
      turn.emplace(source.device, foreignStream(source.where, *stream));
    }
    plan->placeUsers();
    for (std::size_t set = 0; set < source.sets.size() && !failed; ++set) {
      failed = plan->captureSet(set);
    }
  });
  if (thrown) {
    return tl::make_unexpected(failureAt(kCapturing, *thrown));
  }
  if (failed) {
    return tl::make_unexpected(std::move(*failed));
  }
  return plan;
}

void CapturedPlan::placeUsers() {
  const domain::Graph& graph = m_source.graph;
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    if (graph.inputs[i].kind == domain::InputKind::User) {
      m_users.emplace_back(i, emptyTensor(graph.type(graph.inputs[i].value), m_source.where));
    }
  }
}

std::optional<StepFailure> CapturedPlan::captureSet(std::size_t set) {
  copyUsers(set);
  const std::vector<at::Tensor> inputs = inputsOf(set);
  if (auto first = m_source.program.run(inputs); !first) {
    return std::move(first).error();
  }
  if (DeviceStatus failed = m_source.device.synchronize()) {
    return failureAt(kCapturing, std::move(*failed));
  }
  Capture& capture = m_captures[set];
  auto call = m_source.device.capture([this, set]() -> DeviceStatus {
    auto outputs = m_source.program.run(inputsOf(set));
    if (!outputs) {
      return asDeviceFailure(outputs.error());
    }
    m_captures[set].outputs = WipedTensors(std::move(*outputs));
    return std::nullopt;
  });
  if (!call) {
    return failureAt(kCapturing, std::move(call).error());
  }
  capture.call = std::move(*call);
  capture.places = m_source.program.places();
  for (const at::Tensor& output : capture.outputs.all()) {
    const bool isInput = std::any_of(inputs.begin(), inputs.end(),
                                     [&output](const at::Tensor& input) { return output.is_alias_of(input); });
    if (!isInput) {
      capture.places.push_back({output.storage().mutable_data(), output.storage().nbytes()});
    }
  }
  return std::nullopt;
}

std::vector<at::Tensor> CapturedPlan::inputsOf(std::size_t set) const {
  const auto tensors = m_source.sets[set].tensors();
  std::vector<at::Tensor> inputs(tensors.begin(), tensors.end());
  for (const auto& [input, place] : m_users) {
    inputs[input] = place;
  }
  return inputs;
}

void CapturedPlan::copyUsers(std::size_t set) const {
  for (const auto& [input, place] : m_users) {
    copyInto(place, m_source.sets[set].tensors()[input]);
  }
}

tl::expected<std::vector<at::Tensor>, StepFailure> CapturedPlan::run(std::size_t set) {
  const at::NoGradGuard noGrad;
  std::vector<at::Tensor> outputs;
  DeviceStatus failed;
  const auto thrown = attempt([&] {
    copyUsers(set);
    failed = m_captures[set].call->launch();
    if (!failed) {
      outputs = copiesOf(m_captures[set].outputs.all());
    }
  });
  if (thrown) {
    return tl::make_unexpected(failureAt(kLaunching, *thrown));
  }
  if (failed) {
    return tl::make_unexpected(failureAt(kLaunching, std::move(*failed)));
  }
  return outputs;
}

DeviceStatus CapturedPlan::poison(std::size_t set) const {
  for (const PlanProgram::Place& place : m_captures[set].places) {
    if (DeviceStatus failed = m_source.device.fill(place.address, kPoison, place.bytes)) {
      return failed;
    }
  }
  return std::nullopt;
}

}  // namespace swage::verify
