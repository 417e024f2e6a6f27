// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/synth/lowering.h"

// Normalisations: statistics of each group, then an affine map of its elements.
namespace swage::synth {
namespace {

using domain::ValueId;

struct Moments {
  int mean = -1;
  int centred = -1;   // x - mean, for each element
  int variance = -1;  // biased
};

int scaled(RegionBuilder& b, int x, double factor) {
  return b.call("mul", {x, b.constant(factor, b.typeOf(x))});
}

Moments momentsOf(RegionBuilder& b, int x) {
  const auto count = static_cast<double>(b.reducedCount());
  Moments moments;
  moments.mean = b.over(b.reduce(FoldKind::Sum, x), count);
  moments.centred = b.call("sub", {x, moments.mean});
  moments.variance = b.over(b.reduce(FoldKind::Sum, b.call("mul", {moments.centred, moments.centred})), count);
  return moments;
}

int inverseDeviation(RegionBuilder& b, int variance, double epsilon) {
  return b.call("rsqrt", {b.call("add", {variance, b.constant(epsilon, b.typeOf(variance))})});
}

// A vector along one dimension of the normalised tensor (a channel's weight), or along its last ones.
struct Affine {
  std::optional<ValueId> weight;
  std::optional<ValueId> bias;
};

// Reads `value`, whose dimensions are the dimensions [first, first + rank) of the elements.
std::optional<int> readAlong(RegionBuilder& b, ValueId value, const Frame& elements, std::size_t first) {
  const std::size_t rank = b.type(value).shape.size();
  if (first + rank > elements.size()) {
    return std::nullopt;
  }
  const Frame frame(elements.begin() + static_cast<std::ptrdiff_t>(first),
                    elements.begin() + static_cast<std::ptrdiff_t>(first + rank));
  return b.read(value, frame);
}

// x * weight + bias, where they are given. No value: they do not lie on the region's axes.
std::optional<int> applyAffine(RegionBuilder& b, int x, const Frame& elements, const Affine& affine,
                               std::size_t firstDim) {
  for (const auto& [value, function] : {std::pair(affine.weight, "mul"), std::pair(affine.bias, "add")}) {
    if (!value) {
      continue;
    }
    const auto scalar = readAlong(b, *value, elements, firstDim);
    if (!scalar) {
      return std::nullopt;
    }
    x = b.call(function, {x, b.convert(*scalar, b.typeOf(x))});
  }
  return x;
}

void addOptional(std::vector<ValueId>& inputs, const Affine& affine) {
  for (const auto& value : {affine.weight, affine.bias}) {
    if (value) {
      inputs.push_back(*value);
    }
  }
}

// A normalisation is two operations, so that the search may put them into one kernel or two: the statistics of each
// group, and the map of its elements.
struct NormSpec {
  ValueId input;
  ValueId result;
  std::vector<int> dims;
  Affine affine;
  std::size_t affineDim = 0;
  int splitDim = -1;
  std::int64_t splitOuter = 1;
  std::size_t statistics = 0;  // how many values describe a group
  std::function<std::vector<int>(RegionBuilder&, int x)> describe = {};
  std::function<int(RegionBuilder&, int x, const std::vector<int>& statistics)> apply = {};
};

// Shape of one statistic: the dimensions that are not reduced, and the groups a dimension is cut into.
domain::Shape statisticShape(const domain::Shape& space, const NormSpec& spec) {
  domain::Shape shape;
  for (int dim = 0; dim < static_cast<int>(space.size()); ++dim) {
    if (dim == spec.splitDim) {
      shape.push_back(spec.splitOuter);
    } else if (std::find(spec.dims.begin(), spec.dims.end(), dim) == spec.dims.end()) {
      shape.push_back(space[static_cast<std::size_t>(dim)]);
    }
  }
  return shape;
}

// A statistic of the elements. The frame is the same whether it was made in this region or is read from memory.
Frame statisticFrame(const Frame& elements, const NormSpec& spec) {
  Frame frame;
  for (int dim = 0; dim < static_cast<int>(elements.size()); ++dim) {
    const std::vector<int>& axes = elements[static_cast<std::size_t>(dim)];
    if (dim == spec.splitDim) {
      frame.push_back({axes.front()});
    } else if (std::find(spec.dims.begin(), spec.dims.end(), dim) == spec.dims.end()) {
      frame.push_back(axes);
    }
  }
  return frame;
}

domain::ScalarType statisticType(const domain::TensorType& input) {
  return input.dtype == domain::ScalarType::Float64 ? domain::ScalarType::Float64 : domain::ScalarType::Float32;
}

bool lowerApply(RegionBuilder& b, const NormSpec& spec, const std::vector<ValueId>& statistics) {
  const auto elements = b.elementFrame(b.type(spec.result).shape);
  if (!elements || b.layout().splitDim != spec.splitDim || b.layout().splitOuter != spec.splitOuter) {
    return false;  // the region was built for something else
  }
  const Frame frame = statisticFrame(*elements, spec);
  const auto x = b.read(spec.input, *elements);
  std::vector<int> scalars;
  for (const ValueId statistic : statistics) {
    const auto scalar = b.read(statistic, frame);
    if (!scalar) {
      return false;
    }
    scalars.push_back(*scalar);
  }
  const auto value =
      x ? applyAffine(b, spec.apply(b, *x, scalars), *elements, spec.affine, spec.affineDim) : std::nullopt;
  if (value) {
    b.define(spec.result, *value, *elements);
  }
  return value.has_value();
}

// The map operation; whoever adds it has added the statistics.
void addApply(OperationSink& sink, const NormSpec& spec, const std::vector<ValueId>& statistics,
              const domain::Shape& space) {
  Operation operation;
  operation.inputs = statistics;
  operation.inputs.push_back(spec.input);
  addOptional(operation.inputs, spec.affine);
  operation.outputs = {spec.result};
  operation.layout.space = space;
  operation.layout.splitDim = spec.splitDim;
  operation.layout.splitOuter = spec.splitOuter;
  operation.lower = [spec, statistics](RegionBuilder& b) { return lowerApply(b, spec, statistics); };
  sink.add(std::move(operation));
}

void addNormalisation(const NodeView& node, OperationSink& sink, const NormSpec& spec) {
  const domain::TensorType& input = node.type(spec.input);
  if (!domain::isFloating(input.dtype) || input.elementCount() == 0) {
    return;
  }
  std::vector<ValueId> statistics;
  for (std::size_t i = 0; i < spec.statistics; ++i) {
    statistics.push_back(
        sink.newValue(domain::contiguousTensor(statisticType(input), statisticShape(input.shape, spec))));
  }
  Operation operation;
  operation.inputs = {spec.input};
  operation.outputs = statistics;
  operation.layout.space = input.shape;
  operation.layout.reducedDims = spec.dims;
  operation.layout.splitDim = spec.splitDim;
  operation.layout.splitOuter = spec.splitOuter;
  operation.lower = [spec, statistics](RegionBuilder& b) {
    const auto x = b.read(spec.input, b.fullFrame());
    if (!x) {
      return false;
    }
    const std::vector<int> values = spec.describe(b, *x);
    for (std::size_t i = 0; i < values.size(); ++i) {
      b.define(statistics[i], values[i], statisticFrame(b.fullFrame(), spec));
    }
    return true;
  };
  sink.add(std::move(operation));
  addApply(sink, spec, statistics, input.shape);
}

// (x - mean) / sqrt(variance + epsilon)
int standardised(RegionBuilder& b, int x, const std::vector<int>& statistics) {
  return b.call("mul", {b.call("sub", {x, statistics[0]}), statistics[1]});
}

void standardise(NormSpec& spec, double epsilon) {
  spec.statistics = 2;
  spec.describe = [epsilon](RegionBuilder& b, int x) {
    const Moments moments = momentsOf(b, x);
    return std::vector<int>{moments.mean, inverseDeviation(b, moments.variance, epsilon)};
  };
  spec.apply = standardised;
}

std::vector<int> range(int first, int end) {
  std::vector<int> dims;
  for (int dim = first; dim < end; ++dim) {
    dims.push_back(dim);
  }
  return dims;
}

// layer_norm(input, normalized_shape, weight, bias, eps) and rms_norm(input, normalized_shape, weight, eps).
void lowerLayerNorm(const NodeView& node, OperationSink& sink) {
  const auto input = node.tensor(0, "input");
  const auto shape = node.integers(1, "normalized_shape");
  if (!input || !shape) {
    return;
  }
  const int rank = static_cast<int>(node.type(*input).shape.size());
  const int first = rank - static_cast<int>(shape->size());
  NormSpec spec{*input,
                node.result(),
                range(first, rank),
                {node.tensor(2, "weight"), node.tensor(3, "bias")},
                static_cast<std::size_t>(first)};
  standardise(spec, node.number(4, "eps").value_or(1e-5));
  addNormalisation(node, sink, spec);
}

void lowerRmsNorm(const NodeView& node, OperationSink& sink) {
  const auto input = node.tensor(0, "input");
  const auto shape = node.integers(1, "normalized_shape");
  if (!input || !shape) {
    return;
  }
  const int rank = static_cast<int>(node.type(*input).shape.size());
  const int first = rank - static_cast<int>(shape->size());
  // The default epsilon of PyTorch is that of the type.
  const bool isDouble = node.type(*input).dtype == domain::ScalarType::Float64;
  const double epsilon = node.number(3, "eps").value_or(isDouble ? 0x1.0p-52 : 0x1.0p-23);
  NormSpec spec{*input,
                node.result(),
                range(first, rank),
                {node.tensor(2, "weight"), std::nullopt},
                static_cast<std::size_t>(first)};
  spec.statistics = 1;
  spec.describe = [epsilon](RegionBuilder& b, int x) {
    const int square = b.reduce(FoldKind::Sum, b.call("mul", {x, x}));
    const int mean = b.over(square, static_cast<double>(b.reducedCount()));
    return std::vector<int>{inverseDeviation(b, mean, epsilon)};
  };
  spec.apply = [](RegionBuilder& b, int x, const std::vector<int>& statistics) {
    return b.call("mul", {x, statistics[0]});
  };
  addNormalisation(node, sink, spec);
}

// group_norm(input, num_groups, weight, bias, eps): channels are cut into groups.
void lowerGroupNorm(const NodeView& node, OperationSink& sink) {
  const auto input = node.tensor(0, "input");
  const auto groups = node.integer(1, "num_groups");
  if (!input || !groups || node.type(*input).shape.size() < 2 || *groups <= 0 ||
      node.type(*input).shape[1] % *groups != 0) {
    return;
  }
  const int rank = static_cast<int>(node.type(*input).shape.size());
  NormSpec spec{*input, node.result(), range(1, rank), {node.tensor(2, "weight"), node.tensor(3, "bias")}, 1,
                1,      *groups};
  standardise(spec, node.number(4, "eps").value_or(1e-5));
  addNormalisation(node, sink, spec);
}

// instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, cudnn_enabled)
void lowerInstanceNorm(const NodeView& node, OperationSink& sink) {
  const auto input = node.tensor(0, "input");
  const bool fromInput = node.flag(5, "use_input_stats").value_or(true);
  if (!input || !fromInput || node.tensor(3, "running_mean") || node.type(*input).shape.size() < 3) {
    return;
  }
  const int rank = static_cast<int>(node.type(*input).shape.size());
  NormSpec spec{*input, node.result(), range(2, rank), {node.tensor(1, "weight"), node.tensor(2, "bias")}, 1};
  standardise(spec, node.number(7, "eps").value_or(1e-5));
  addNormalisation(node, sink, spec);
}

// _native_batch_norm_legit_no_training(input, weight, bias, running_mean, running_var, momentum, eps): the statistics
// are parameters, so it is pointwise. Only the first of its three results is ever used.
void lowerBatchNormEval(const NodeView& node, OperationSink& sink) {
  const auto input = node.tensor(0, "input");
  const auto mean = node.tensor(3, "running_mean");
  const auto variance = node.tensor(4, "running_var");
  if (!input || !mean || !variance || node.type(*input).shape.size() < 2) {
    return;
  }
  const Affine affine{node.tensor(1, "weight"), node.tensor(2, "bias")};
  const double epsilon = node.number(6, "eps").value_or(1e-5);
  Operation operation;
  operation.inputs = {*input, *mean, *variance};
  addOptional(operation.inputs, affine);
  operation.outputs = {node.result()};
  operation.layout.space = node.type(*input).shape;
  operation.lower = [input = *input, mean = *mean, variance = *variance, affine, epsilon,
                     result = node.result()](RegionBuilder& b) {
    const auto frame = b.frameFor(b.type(result).shape, {input});
    if (!frame || frame != b.elementFrame(b.type(result).shape)) {
      return false;
    }
    const auto x = b.read(input, *frame);
    const auto m = readAlong(b, mean, *frame, 1);
    const auto v = readAlong(b, variance, *frame, 1);
    if (!x || !m || !v) {
      return false;
    }
    const int normalised = b.call("mul", {b.call("sub", {*x, *m}), inverseDeviation(b, *v, epsilon)});
    const auto value = applyAffine(b, normalised, *frame, affine, 1);
    if (value) {
      b.define(result, *value, *frame);
    }
    return value.has_value();
  };
  sink.add(std::move(operation));
}

// (1 - momentum) * running + momentum * batch
int runningUpdate(RegionBuilder& b, int running, int batch, double momentum) {
  return b.call("add", {scaled(b, running, 1.0 - momentum), scaled(b, batch, momentum)});
}

// _native_batch_norm_legit_functional(input, weight, bias, running_mean, running_var, training, momentum, eps):
// five results, the last two being the new running statistics (unbiased variance, as PyTorch keeps it).
struct BatchStatistics {
  ValueId input;
  ValueId runningMean;
  ValueId runningVariance;
  double momentum = 0.1;
  double epsilon = 1e-5;
  std::vector<ValueId> results;  // mean, inverse deviation, new running mean, new running variance

  bool lower(RegionBuilder& b) const {
    const auto x = b.read(input, b.fullFrame());
    const auto oldMean = readAlong(b, runningMean, b.fullFrame(), 1);
    const auto oldVariance = readAlong(b, runningVariance, b.fullFrame(), 1);
    if (!x || !oldMean || !oldVariance) {
      return false;
    }
    const Moments moments = momentsOf(b, *x);
    const double count = static_cast<double>(b.reducedCount());
    const int unbiased = scaled(b, moments.variance, count / (count - 1.0));
    const std::vector<int> values{moments.mean, inverseDeviation(b, moments.variance, epsilon),
                                  runningUpdate(b, *oldMean, moments.mean, momentum),
                                  runningUpdate(b, *oldVariance, unbiased, momentum)};
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (results[i].isValid()) {
        b.define(results[i], values[i], b.reducedFrame(RegionBuilder::KeepDims::No));
      }
    }
    return true;
  }
};

void lowerBatchNormTrain(const NodeView& node, OperationSink& sink) {
  const auto input = node.tensor(0, "input");
  const auto mean = node.tensor(3, "running_mean");
  const auto variance = node.tensor(4, "running_var");
  if (!input || !mean || !variance || !node.flag(5, "training").value_or(false) || node.type(*input).shape.size() < 2 ||
      !domain::isFloating(node.type(*input).dtype)) {
    return;
  }
  const domain::TensorType type = node.type(*input);
  const auto statistic = [&](std::size_t index) {
    return node.result(index).isValid() ? node.result(index)
                                        : sink.newValue(domain::contiguousTensor(statisticType(type), {type.shape[1]}));
  };
  BatchStatistics statistics{
      *input, *mean, *variance, node.number(6, "momentum").value_or(0.1), node.number(7, "eps").value_or(1e-5), {}};
  statistics.results = {statistic(1), statistic(2), node.result(3), node.result(4)};
  Operation operation;
  operation.inputs = {*input, *mean, *variance};
  for (const ValueId result : statistics.results) {
    if (result.isValid()) {
      operation.outputs.push_back(result);
    }
  }
  operation.layout.space = type.shape;
  for (int dim = 0; dim < static_cast<int>(operation.layout.space.size()); ++dim) {
    if (dim != 1) {
      operation.layout.reducedDims.push_back(dim);
    }
  }
  NormSpec spec{
      *input, node.result(), operation.layout.reducedDims, {node.tensor(1, "weight"), node.tensor(2, "bias")}, 1};
  spec.apply = standardised;
  operation.lower = [statistics](RegionBuilder& b) { return statistics.lower(b); };
  sink.add(std::move(operation));
  addApply(sink, spec, {statistics.results[0], statistics.results[1]}, type.shape);
}

}  // namespace

void registerNormalisations(LoweringTable& table) {
  table["aten.layer_norm.default"] = lowerLayerNorm;
  table["aten.rms_norm.default"] = lowerRmsNorm;
  table["aten.group_norm.default"] = lowerGroupNorm;
  table["aten.instance_norm.default"] = lowerInstanceNorm;
  table["aten._native_batch_norm_legit_no_training.default"] = lowerBatchNormEval;
  table["aten._native_batch_norm_legit_functional.default"] = lowerBatchNormTrain;
}

}  // namespace swage::synth
