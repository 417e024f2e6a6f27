// SPDX-License-Identifier: Apache-2.0
#include "core/verify/recurrent_weights.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_cudnn_rnn_flatten_weight.h>
#include <ATen/ops/cudnn_is_acceptable.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <variant>

#include "core/base/log.h"
#include "core/verify/torch_failure.h"

namespace swage::verify {
namespace {

using domain::ValueId;

struct Cell {
  std::int64_t mode = 0;
  std::int64_t gates = 0;
};

std::optional<Cell> cellOf(std::string_view op) {
  static const std::map<std::string_view, Cell> kCells = {{"aten.rnn_relu.input", {0, 1}},
                                                          {"aten.rnn_tanh.input", {1, 1}},
                                                          {"aten.lstm.input", {2, 4}},
                                                          {"aten.gru.input", {3, 3}}};
  const auto found = kCells.find(op);
  return found != kCells.end() ? std::optional(found->second) : std::nullopt;
}

// Arguments of the operators: input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first.
constexpr std::size_t kParams = 2;
constexpr std::size_t kHasBiases = 3;
constexpr std::size_t kLayers = 4;
constexpr std::size_t kIsBidirectional = 7;
constexpr std::size_t kIsBatchFirst = 8;

// The inputs of the graph that hold the weights; nothing where one is computed, given by the user, or there twice.
std::vector<std::size_t> weightsOf(const domain::Graph& graph, const domain::Argument& params) {
  std::vector<ValueId> values;
  domain::collectValues(params, values);
  std::vector<std::size_t> weights;
  for (const ValueId value : values) {
    const auto found = std::find_if(graph.inputs.begin(), graph.inputs.end(), [&](const domain::GraphInput& input) {
      return input.value == value && input.kind != domain::InputKind::User;
    });
    if (found == graph.inputs.end() || !graph.type(value).isContiguous() || graph.type(value).shape.empty() ||
        graph.type(value).dtype != graph.type(values.front()).dtype) {
      return {};
    }
    weights.push_back(static_cast<std::size_t>(found - graph.inputs.begin()));
  }
  return std::set(weights.begin(), weights.end()).size() == weights.size() ? weights : std::vector<std::size_t>();
}

std::optional<RecurrentCall> callOf(const domain::Graph& graph, const domain::Node& node) {
  const auto cell = cellOf(node.op);
  if (!cell || node.args.size() <= kIsBatchFirst) {
    return std::nullopt;
  }
  const auto* layers = std::get_if<std::int64_t>(&node.args[kLayers].value);
  const auto* hasBiases = std::get_if<bool>(&node.args[kHasBiases].value);
  const auto* isBidirectional = std::get_if<bool>(&node.args[kIsBidirectional].value);
  const auto* isBatchFirst = std::get_if<bool>(&node.args[kIsBatchFirst].value);
  RecurrentCall call;
  call.weights = weightsOf(graph, node.args[kParams]);
  if (layers == nullptr || hasBiases == nullptr || isBidirectional == nullptr || isBatchFirst == nullptr ||
      *layers < 1 || call.weights.empty()) {
    return std::nullopt;
  }
  const auto count = static_cast<std::int64_t>(call.weights.size());
  const std::int64_t parts = *layers * (*isBidirectional ? 2 : 1);
  const std::int64_t plain = *hasBiases ? 4 : 2;
  call.weightsEach = count / parts;
  const domain::Shape& ofInputs = graph.type(graph.inputs[call.weights[0]].value).shape;
  const domain::Shape& ofStates = graph.type(graph.inputs[call.weights[1]].value).shape;
  if (count % parts != 0 || call.weightsEach < plain || call.weightsEach > plain + 1 || ofInputs.size() != 2 ||
      ofStates.size() != 2 || ofStates[0] % cell->gates != 0) {
    return std::nullopt;
  }
  call.mode = cell->mode;
  call.inputs = ofInputs[1];
  call.hidden = ofStates[0] / cell->gates;
  call.projected = call.weightsEach > plain ? ofStates[1] : 0;
  call.layers = *layers;
  call.isBatchFirst = *isBatchFirst;
  call.isBidirectional = *isBidirectional;
  return call;
}

// As flatten_parameters() of torch.nn.RNNBase does it, with tensors whose contents do not matter.
std::optional<WeightChunk> chunkOf(const domain::Graph& graph, const RecurrentCall& call, c10::Device where) {
  const at::NoGradGuard noGrad;
  std::vector<at::Tensor> weights;
  for (const std::size_t input : call.weights) {
    weights.push_back(emptyTensor(graph.type(graph.inputs[input].value), where));
  }
  if (!weights.front().is_floating_point() || !at::cudnn_is_acceptable(weights.front())) {
    return std::nullopt;
  }
  const at::Tensor whole =
      at::_cudnn_rnn_flatten_weight(weights, call.weightsEach, call.inputs, call.mode, call.hidden, call.projected,
                                    call.layers, call.isBatchFirst, call.isBidirectional);
  WeightChunk chunk{whole.numel(), {}};
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!weights[i].is_alias_of(whole) || !hasStrides(weights[i], graph.type(graph.inputs[call.weights[i]].value)) ||
        whole.storage_offset() != 0) {
      return std::nullopt;
    }
    chunk.places.push_back({call.weights[i], weights[i].storage_offset()});
  }
  return chunk;
}

}  // namespace

std::vector<RecurrentCall> recurrentCalls(const domain::Graph& graph) {
  std::vector<RecurrentCall> calls;
  std::set<std::size_t> taken;
  for (const domain::Node& node : graph.nodes) {
    auto call = callOf(graph, node);
    const auto isTaken = [&](std::size_t input) { return taken.count(input) > 0; };
    if (call && std::none_of(call->weights.begin(), call->weights.end(), isTaken)) {
      taken.insert(call->weights.begin(), call->weights.end());
      calls.push_back(*std::move(call));
    }
  }
  return calls;
}

std::vector<WeightChunk> weightChunks(const domain::Graph& graph, c10::Device where) {
  std::vector<WeightChunk> chunks;
  if (!where.is_cuda()) {
    return chunks;
  }
  for (const RecurrentCall& call : recurrentCalls(graph)) {
    std::optional<WeightChunk> chunk;
    const auto failed = attempt([&] { chunk = chunkOf(graph, call, where); });
    TORCH_CHECK(!failed || !failed->poisoned, failed->message);
    if (failed) {
      log::warn("eager is slower than the module: the weights of a recurrent layer are not in one piece: {}",
                failed->message);
    }
    if (chunk) {
      chunks.push_back(*std::move(chunk));
    }
  }
  return chunks;
}

}  // namespace swage::verify
