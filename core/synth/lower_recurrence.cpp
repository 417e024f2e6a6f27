// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/synth/lowering.h"
#include "core/synth/sizes.h"

// Recurrent layers. What the inputs of all steps bring is one product for each layer and direction; what is left is a
// region of its own, with the products of one step after another and the gates. Layers of one direction are one region
// together: while one of them is at a step, the one below is at the next.
namespace swage::synth {
namespace {

using domain::TensorType;
using domain::ValueId;

// Weights of more than this do not stay on the multiprocessors of any device while the steps go by; then each layer is
// a region of its own.
constexpr std::int64_t kMostWeightBytes = 24 << 20;

struct Weights {
  ValueId input;
  ValueId hidden;
  std::optional<ValueId> inputBias = {};
  std::optional<ValueId> hiddenBias = {};
};

struct Layers {
  CellKind cell = CellKind::Lstm;
  ValueId x;
  ValueId initial;
  std::optional<ValueId> initialCell = {};
  std::vector<Weights> weights = {};  // of each layer, its directions beside each other
  std::int64_t count = 1;
  std::int64_t directions = 1;
  std::int64_t steps = 1;
  std::int64_t batch = 1;
  std::int64_t units = 1;
  bool isBatchFirst = false;
  ValueId result = {};
  ValueId last = {};
  ValueId lastCell = {};

  [[nodiscard]] const Weights& of(std::int64_t layer, std::int64_t direction) const {
    return weights[static_cast<std::size_t>(layer * directions + direction)];
  }
  [[nodiscard]] std::int64_t rows() const { return gateCount(cell) * units; }
  [[nodiscard]] bool isLstm() const { return cell == CellKind::Lstm; }
};

std::vector<ValueId> listOf(const NodeView& node, std::size_t position) {
  std::vector<ValueId> values;
  if (position < node.node().args.size()) {
    domain::collectValues(node.node().args[position], values);
  }
  return values;
}

bool isFloat(const NodeView& node, ValueId value, const domain::Shape& shape) {
  return node.type(value).dtype == domain::ScalarType::Float32 && node.type(value).shape == shape;
}

bool areWeights(const NodeView& node, const Layers& layers, const Weights& weights, std::int64_t inputs) {
  const auto isMatrix = [&](ValueId value, std::int64_t columns) {
    return isFloat(node, value, {layers.rows(), columns}) && node.type(value).isContiguous();
  };
  const auto isBias = [&](const std::optional<ValueId>& value) {
    return !value || (isFloat(node, *value, {layers.rows()}) && node.type(*value).isContiguous());
  };
  return isMatrix(weights.input, inputs) && isMatrix(weights.hidden, layers.units) && isBias(weights.inputBias) &&
         isBias(weights.hiddenBias);
}

// Whether all tensors are what the operator takes; a projection of the results is not among it.
bool areShapesKnown(const NodeView& node, const Layers& layers) {
  const domain::Shape state{layers.count * layers.directions, layers.batch, layers.units};
  const domain::Shape made{layers.steps, layers.batch, layers.directions * layers.units};
  const domain::Shape result = layers.isBatchFirst ? domain::Shape{made[1], made[0], made[2]} : made;
  const auto is = [&](ValueId value, const domain::Shape& shape) {
    return !value.isValid() || isFloat(node, value, shape);
  };
  if (!is(layers.initial, state) || !is(layers.result, result) || !is(layers.last, state) ||
      !is(layers.lastCell, state) || !is(layers.initialCell.value_or(ValueId()), state)) {
    return false;
  }
  for (std::int64_t layer = 0; layer < layers.count; ++layer) {
    const std::int64_t inputs = layer == 0 ? node.type(layers.x).shape.back() : layers.directions * layers.units;
    for (std::int64_t direction = 0; direction < layers.directions; ++direction) {
      if (!areWeights(node, layers, layers.of(layer, direction), inputs)) {
        return false;
      }
    }
  }
  return layers.steps * layers.batch * layers.rows() * layers.count < kLargestInt;
}

std::optional<Layers> layersOf(const NodeView& node, CellKind cell) {
  const auto x = node.tensor(0);
  const std::vector<ValueId> states = listOf(node, 1);
  const std::vector<ValueId> weights = listOf(node, 2);
  const auto hasBiases = node.flag(3);
  const auto count = node.integer(4);
  const auto isBidirectional = node.flag(7);
  const auto isBatchFirst = node.flag(8);
  const std::size_t stateCount = cell == CellKind::Lstm ? 2 : 1;
  if (!x || states.size() != stateCount || !hasBiases || !count || *count < 1 || !isBidirectional || !isBatchFirst ||
      node.type(*x).dtype != domain::ScalarType::Float32 || node.type(*x).shape.size() != 3) {
    return std::nullopt;
  }
  // Values between layers that are dropped at random.
  if (node.flag(6).value_or(true) && node.number(5).value_or(1.0) != 0.0) {
    return std::nullopt;
  }
  Layers layers{cell, *x, states[0]};
  layers.count = *count;
  layers.directions = *isBidirectional ? 2 : 1;
  layers.isBatchFirst = *isBatchFirst;
  layers.steps = node.type(*x).shape[*isBatchFirst ? 1 : 0];
  layers.batch = node.type(*x).shape[*isBatchFirst ? 0 : 1];
  const std::size_t inEach = *hasBiases ? 4 : 2;
  if (weights.size() != static_cast<std::size_t>(layers.count * layers.directions) * inEach ||
      node.type(states[0]).shape.size() != 3) {
    return std::nullopt;
  }
  layers.units = node.type(states[0]).shape[2];
  for (std::size_t i = 0; i < weights.size(); i += inEach) {
    layers.weights.push_back({weights[i], weights[i + 1]});
    if (*hasBiases) {
      layers.weights.back().inputBias = weights[i + 2];
      layers.weights.back().hiddenBias = weights[i + 3];
    }
  }
  layers.result = node.result(0);
  layers.last = node.result(1);
  if (layers.isLstm()) {
    layers.initialCell = states[1];
    layers.lastCell = node.result(2);
  }
  return areShapesKnown(node, layers) ? std::optional(std::move(layers)) : std::nullopt;
}

// (step, batch, ...) of a tensor whose first dimensions may be the other way round.
Placed sequence(const RegionBuilder& b, int operand, ValueId value, bool isBatchFirst) {
  const domain::Shape& strides = b.type(value).strides;
  return {operand, {strides[isBatchFirst ? 1 : 0], strides[isBatchFirst ? 0 : 1], strides[2]}};
}

// What one region computes.
struct Part {
  std::vector<ValueId> products;  // of its layer's directions, or of the first layer
  bool areBatchFirst = false;     // the products
  std::int64_t firstLayer = 0;
  std::int64_t layerCount = 1;
  ValueId result = {};
  bool isBatchFirst = false;  // the result
  ValueId last = {};          // of these layers
  ValueId lastCell = {};
};

// One layer in one direction; `place` counts the layers and directions of the part.
RecurrentLayer layerOf(RegionBuilder& b, const Layers& layers, const Part& part, std::int64_t place) {
  const std::int64_t direction = place % layers.directions;
  const std::int64_t number = part.firstLayer + place / layers.directions;
  const Weights& weights = layers.of(number, direction);
  const auto state = [&](std::optional<ValueId> value, std::int64_t row, bool isOutput) {
    if (!value || !value->isValid()) {
      return Placed();
    }
    const domain::Shape& strides = b.type(*value).strides;
    return Placed{b.tensor(*value, isOutput), {0, strides[1], strides[2]}, row * strides[0]};
  };
  RecurrentLayer layer;
  layer.isReversed = direction == 1;
  const bool readsLayer = place >= layers.directions;
  if (readsLayer) {
    layer.inputWeight = b.tensor(weights.input);
    layer.inputBias = weights.inputBias ? b.tensor(*weights.inputBias) : -1;
  } else {
    const ValueId products = part.products[static_cast<std::size_t>(direction)];
    layer.products = sequence(b, b.tensor(products), products, part.areBatchFirst);
  }
  layer.hiddenWeight = b.tensor(weights.hidden);
  layer.hiddenBias = weights.hiddenBias ? b.tensor(*weights.hiddenBias) : -1;
  const std::int64_t row = number * layers.directions + direction;
  layer.initial = state(layers.initial, row, false);
  layer.initialCell = state(layers.initialCell, row, false);
  if (part.result.isValid() && place + layers.directions >= part.layerCount * layers.directions) {
    layer.result = sequence(b, b.tensor(part.result, true), part.result, part.isBatchFirst);
    layer.result.offset = direction * layers.units * layer.result.steps[2];
  }
  layer.last = state(part.last, place, true);
  layer.lastCell = state(part.lastCell, place, true);
  return layer;
}

void addPart(OperationSink& sink, const Layers& layers, const Part& part) {
  Operation operation;
  operation.isAlone = true;
  operation.inputs = part.products;
  operation.inputs.push_back(layers.initial);
  if (layers.initialCell) {
    operation.inputs.push_back(*layers.initialCell);
  }
  for (std::int64_t i = 0; i < part.layerCount * layers.directions; ++i) {
    const Weights& weights = layers.of(part.firstLayer + i / layers.directions, i % layers.directions);
    operation.inputs.push_back(weights.hidden);
    if (i >= layers.directions) {
      operation.inputs.push_back(weights.input);
    }
    for (const auto& bias : {weights.inputBias, weights.hiddenBias}) {
      if (bias) {
        operation.inputs.push_back(*bias);
      }
    }
  }
  for (const ValueId output : {part.result, part.last, part.lastCell}) {
    if (output.isValid()) {
      operation.outputs.push_back(output);
    }
  }
  operation.layout.space = {layers.steps, layers.batch, layers.units};
  operation.layout.roles = {AxisRole::Scan, AxisRole::Batch, AxisRole::Batch};
  operation.lower = [layers, part](RegionBuilder& b) {
    Recurrence recurrence{layers.cell, layers.steps, layers.batch, layers.units, {}};
    for (std::int64_t i = 0; i < part.layerCount * layers.directions; ++i) {
      recurrence.layers.push_back(layerOf(b, layers, part, i));
    }
    b.recur(std::move(recurrence));
    return true;
  };
  sink.add(std::move(operation));
}

ValueId newTensor(OperationSink& sink, domain::Shape shape) {
  return sink.newValue(domain::contiguousTensor(domain::ScalarType::Float32, std::move(shape)));
}

// Products of all inputs with the input weights, for each direction. cuDNN makes them in TF32 where it may.
std::vector<ValueId> addProducts(const NodeView& node, OperationSink& sink, const Layers& layers, std::int64_t layer,
                                 ValueId x) {
  std::vector<ValueId> products;
  for (std::int64_t direction = 0; direction < layers.directions; ++direction) {
    domain::Shape shape = sink.values()[static_cast<std::size_t>(x.value())].shape;
    shape.back() = layers.rows();
    products.push_back(newTensor(sink, std::move(shape)));
    const Weights& weights = layers.of(layer, direction);
    addLinear(NodeView(node.node(), sink.values()), sink, {x, weights.input, weights.inputBias, products.back(), true});
  }
  return products;
}

// One region for each layer; what all of them leave at the end is put together after the last.
void addLayers(const NodeView& node, OperationSink& sink, const Layers& layers) {
  std::vector<ValueId> last;
  std::vector<ValueId> lastCells;
  ValueId x = layers.x;
  const auto partOf = [&](ValueId whole, std::vector<ValueId>& pieces) {
    if (whole.isValid() && layers.count > 1) {
      pieces.push_back(newTensor(sink, {layers.directions, layers.batch, layers.units}));
      return pieces.back();
    }
    return whole;
  };
  for (std::int64_t layer = 0; layer < layers.count; ++layer) {
    Part part;
    part.products = addProducts(node, sink, layers, layer, x);
    part.firstLayer = layer;
    part.areBatchFirst = layers.isBatchFirst && layer == 0;
    const bool isLast = layer + 1 == layers.count;
    part.isBatchFirst = layers.isBatchFirst && isLast;
    part.result =
        isLast ? layers.result : newTensor(sink, {layers.steps, layers.batch, layers.directions * layers.units});
    part.last = partOf(layers.last, last);
    part.lastCell = partOf(layers.lastCell, lastCells);
    addPart(sink, layers, part);
    x = part.result;
  }
  for (const auto& [pieces, whole] : {std::pair(&last, layers.last), std::pair(&lastCells, layers.lastCell)}) {
    if (!pieces->empty()) {
      addConcatenation(sink, *pieces, whole, 0);
    }
  }
}

void addStack(const NodeView& node, OperationSink& sink, const Layers& layers) {
  Part part;
  part.products = addProducts(node, sink, layers, 0, layers.x);
  part.areBatchFirst = part.isBatchFirst = layers.isBatchFirst;
  part.layerCount = layers.count;
  part.result = layers.result;
  part.last = layers.last;
  part.lastCell = layers.lastCell;
  addPart(sink, layers, part);
}

LowerNode recurrent(CellKind cell) {
  return [cell](const NodeView& node, OperationSink& sink) {
    const auto layers = layersOf(node, cell);
    if (!layers) {
      return;
    }
    const std::int64_t weightBytes = layers->rows() * layers->units * (2 * layers->count - 1) * 4;
    if (layers->directions == 1 && weightBytes <= kMostWeightBytes) {
      addStack(node, sink, *layers);
    } else if (layers->count == 1 || (!layers->last.isValid() && !layers->lastCell.isValid()) ||
               layers->count <= std::int64_t{kMostConcatenated}) {
      addLayers(node, sink, *layers);
    }
  };
}

}  // namespace

void registerRecurrences(LoweringTable& table) {
  table["aten.lstm.input"] = recurrent(CellKind::Lstm);
  table["aten.gru.input"] = recurrent(CellKind::Gru);
  table["aten.rnn_tanh.input"] = recurrent(CellKind::Tanh);
  table["aten.rnn_relu.input"] = recurrent(CellKind::Relu);
}

}  // namespace swage::synth
