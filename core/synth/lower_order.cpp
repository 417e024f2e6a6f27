// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/synth/lowering.h"

// Operators to which the order or the place of elements matters: scans, and moves of data without arithmetic.
namespace swage::synth {
namespace {

using domain::Shape;
using domain::ValueId;
using Coordinate = RegionBuilder::Coordinate;

// --- scans -----------------------------------------------------------------------------------------------------------

// Computed as the result is stored: a running sum of halves in float, one of truth values in whole numbers.
LowerNode scan(FoldKind kind) {
  return [kind](const NodeView& node, OperationSink& sink) {
    const auto input = node.tensor(0, "self");
    const auto dim = node.integer(1, "dim");
    const ValueId result = node.result();
    // The places of running extrema are not found.
    const bool wantsPlaces = node.node().outputs.size() > 1 && node.node().outputs[1].isValid();
    if (!input || !dim || !result.isValid() || wantsPlaces || node.type(result).shape != node.type(*input).shape) {
      return;
    }
    const Compute type = computeType(node.type(result).dtype);
    const Shape& shape = node.type(*input).shape;
    const int wrapped = wrapDim(*dim, shape.size());
    if (wrapped < 0 || type == Compute::Bool) {
      return;
    }
    Operation operation;
    operation.inputs = {*input};
    operation.outputs = {result};
    operation.layout.space = shape;
    operation.layout.roles.assign(shape.size(), AxisRole::Batch);
    operation.layout.roles[static_cast<std::size_t>(wrapped)] = AxisRole::Scan;
    operation.lower = [input = *input, result, kind, type, wrapped](RegionBuilder& b) {
      auto frame = b.frameFor(b.type(result).shape, {input});
      if (!frame || frame->size() != b.fullFrame().size()) {
        return false;
      }
      // A scan goes the way its axis counts.
      const std::vector<int>& along = (*frame)[static_cast<std::size_t>(wrapped)];
      if (!along.empty() && along.front() < 0) {
        if (!b.turn(axisOf(along.front()))) {
          return false;
        }
        frame = b.frameOf(input);
      }
      const auto x = b.read(input, *frame);
      if (!x) {
        return false;
      }
      b.define(result, b.scan(kind, b.convert(*x, type)), *frame);
      return true;
    };
    sink.add(std::move(operation));
  };
}

// --- moves -----------------------------------------------------------------------------------------------------------

// One operation that reads every element of its result from somewhere.
void addMove(OperationSink& sink, ValueId result, std::vector<ValueId> inputs,
             std::function<std::optional<int>(RegionBuilder&)> element) {
  const auto type = [&](ValueId value) -> const domain::TensorType& {
    return sink.values()[static_cast<std::size_t>(value.value())];
  };
  const auto isPlain = [&](ValueId value) { return type(value).dtype == type(result).dtype; };
  if (!result.isValid() || !domain::isFloating(type(result).dtype) ||
      !std::all_of(inputs.begin(), inputs.end(), isPlain)) {
    return;
  }
  Operation operation;
  operation.inputs = std::move(inputs);
  operation.outputs = {result};
  operation.layout.space = type(result).shape;
  operation.lower = [result, element = std::move(element)](RegionBuilder& b) {
    // Places are counted along the dimensions of the result, so the region must have been built for its shape, with one
    // axis for each.
    const bool isCut = std::any_of(b.fullFrame().begin(), b.fullFrame().end(),
                                   [](const std::vector<int>& axes) { return axes.size() > 1; });
    if (b.layout().space != b.type(result).shape || isCut) {
      return false;
    }
    const auto value = element(b);
    if (value) {
      b.define(result, *value, b.fullFrame());
    }
    return value.has_value();
  };
  sink.add(std::move(operation));
}

std::vector<Coordinate> samePlaces(const RegionBuilder& b) {
  std::vector<Coordinate> places;
  for (const std::vector<int>& axes : b.fullFrame()) {
    places.push_back(Coordinate{{{axes.front(), 1}}});
  }
  return places;
}

// The frame with these dimensions walked the other way; none: there is no such dimension.
std::optional<Frame> reversed(Frame frame, const std::vector<std::int64_t>& dims) {
  for (const std::int64_t dim : dims) {
    const int wrapped = wrapDim(dim, frame.size());
    if (wrapped < 0) {
      return std::nullopt;
    }
    for (int& place : frame[static_cast<std::size_t>(wrapped)]) {
      place = ~place;
    }
  }
  return frame;
}

// Moves nothing: what is made here is stored the other way round, and what is made elsewhere is read so.
void lowerFlip(const NodeView& node, OperationSink& sink) {
  const auto input = node.tensor(0, "self");
  const auto dims = node.integers(1, "dims");
  const ValueId result = node.result();
  if (!input || !dims || !result.isValid()) {
    return;
  }
  Operation operation;
  operation.inputs = {*input};
  operation.outputs = {result};
  operation.layout.space = node.type(result).shape;
  operation.lower = [input = *input, dims = *dims, result](RegionBuilder& b) {
    const bool isMadeHere = b.frameOf(input).has_value();
    const auto frame = b.frameFor(b.type(input).shape, {input});
    const auto turned = frame ? reversed(*frame, dims) : std::nullopt;
    const auto x = turned ? b.read(input, isMadeHere ? *frame : *turned) : std::nullopt;
    if (x) {
      b.define(result, *x, isMadeHere ? *turned : *frame);
    }
    return x.has_value();
  };
  sink.add(std::move(operation));
}

// The part of a matrix above or below a diagonal; the rest is zero.
LowerNode triangle(std::string_view keeps) {
  return [keeps](const NodeView& node, OperationSink& sink) {
    const auto input = node.tensor(0, "self");
    const std::int64_t diagonal = node.integer(1, "diagonal").value_or(0);
    if (!input || node.type(*input).shape.size() < 2) {
      return;
    }
    addMove(sink, node.result(), {*input}, [input = *input, diagonal, keeps](RegionBuilder& b) {
      const auto x = b.readAt(input, samePlaces(b));
      if (!x) {
        return x;
      }
      const std::size_t rank = b.fullFrame().size();
      const int row = b.coordinate(b.fullFrame()[rank - 2].front());
      const int column = b.coordinate(b.fullFrame()[rank - 1].front());
      const int edge = b.call("add", {row, b.constant(static_cast<double>(diagonal), Compute::I64)});
      const int kept = b.call(keeps, {column, edge}, Compute::Bool);
      return std::optional(b.call("select", {kept, *x, b.constant(0.0, b.typeOf(*x))}));
    });
  };
}

void lowerCat(const NodeView& node, OperationSink& sink) {
  const std::vector<ValueId> inputs = domain::inputsOf(node.node());
  const Shape& shape = node.type(node.result()).shape;
  const int dim = wrapDim(node.integer(1, "dim").value_or(0), shape.size());
  const bool fits = std::all_of(inputs.begin(), inputs.end(),
                                [&](ValueId input) { return node.type(input).shape.size() == shape.size(); });
  if (dim >= 0 && !inputs.empty() && inputs.size() <= kMostConcatenated && fits) {
    addConcatenation(sink, inputs, node.result(), dim);
  }
}

// The first half of a dimension times the sigmoid of the second.
void lowerGlu(const NodeView& node, OperationSink& sink) {
  const auto input = node.tensor(0, "self");
  const Shape& shape = node.type(node.result()).shape;
  const int dim = wrapDim(node.integer(1, "dim").value_or(-1), shape.size());
  if (!input || dim < 0 || !domain::isFloating(node.type(*input).dtype)) {
    return;
  }
  addMove(sink, node.result(), {*input}, [input = *input, along = static_cast<std::size_t>(dim)](RegionBuilder& b) {
    std::vector<Coordinate> places = samePlaces(b);
    const auto x = b.readAt(input, places);
    places[along].offset = b.type(input).shape[along] / 2;
    const auto gate = x ? b.readAt(input, places) : std::nullopt;
    return gate ? std::optional(b.call("mul", {*x, b.call("sigmoid", {*gate})})) : std::nullopt;
  });
}

// Tensors beside each other along a dimension of their own.
void lowerStack(const NodeView& node, OperationSink& sink) {
  const std::vector<ValueId> inputs = domain::inputsOf(node.node());
  const int dim = wrapDim(node.integer(1, "dim").value_or(0), node.type(node.result()).shape.size());
  if (dim < 0 || inputs.empty() || inputs.size() > kMostConcatenated) {
    return;
  }
  addMove(sink, node.result(), inputs, [inputs, dim](RegionBuilder& b) {
    const int at = b.coordinate(b.fullFrame()[static_cast<std::size_t>(dim)].front());
    std::optional<int> value;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      std::vector<Coordinate> places = samePlaces(b);
      places.erase(places.begin() + dim);
      const auto part = b.readAt(inputs[i], places);
      if (!part) {
        return part;
      }
      const int isHere = b.call("ge", {at, b.constant(static_cast<double>(i), Compute::I64)}, Compute::Bool);
      value = value ? b.call("select", {isHere, *part, *value}) : *part;
    }
    return value;
  });
}

// A dimension that is rolled, by how many places, at least 0.
struct Roll {
  std::size_t dim = 0;
  std::int64_t shift = 0;
};

// The rolls of a node; empty: there is none that a kernel takes, each of which doubles what is read.
std::vector<Roll> rollsOf(const NodeView& node) {
  constexpr std::size_t kMostRolled = 2;
  const auto shifts = node.integers(1, "shifts");
  const auto dims = node.integers(2, "dims");
  const Shape& shape = node.type(node.result()).shape;
  std::vector<Roll> rolls;
  if (!shifts || !dims || dims->size() != shifts->size() || dims->size() > kMostRolled) {
    return rolls;
  }
  for (std::size_t i = 0; i < dims->size(); ++i) {
    const int dim = wrapDim((*dims)[i], shape.size());
    const std::int64_t extent = dim < 0 ? 0 : shape[static_cast<std::size_t>(dim)];
    if (extent == 0) {
      return {};
    }
    rolls.push_back({static_cast<std::size_t>(dim), (((*shifts)[i] % extent) + extent) % extent});
  }
  return rolls;
}

// Where an element lies that was in front of the ends of the rolled dimensions, or behind those in `behind` (a bit
// each), and whether this is such an element.
std::pair<std::vector<Coordinate>, int> rolledFrom(RegionBuilder& b, const std::vector<Roll>& rolls, unsigned behind) {
  std::vector<Coordinate> places = samePlaces(b);
  std::optional<int> isHere;
  for (std::size_t i = 0; i < rolls.size(); ++i) {
    const auto [dim, shift] = rolls[i];
    const bool isBehind = (behind >> i & 1U) != 0;
    places[dim].offset = isBehind ? b.layout().space[dim] - shift : -shift;
    places[dim].checked = true;
    const int edge = b.constant(static_cast<double>(shift), Compute::I64);
    const int isOnSide =
        b.call(isBehind ? "lt" : "ge", {b.coordinate(b.fullFrame()[dim].front()), edge}, Compute::Bool);
    isHere = isHere ? b.call("and", {*isHere, isOnSide}, Compute::Bool) : isOnSide;
  }
  return {std::move(places), *isHere};
}

// What leaves a dimension at one end comes in at the other.
void lowerRoll(const NodeView& node, OperationSink& sink) {
  const auto input = node.tensor(0, "self");
  const std::vector<Roll> rolls = rollsOf(node);
  if (!input || rolls.empty()) {
    return;
  }
  addMove(sink, node.result(), {*input}, [input = *input, rolls](RegionBuilder& b) {
    std::optional<int> value;
    for (unsigned behind = 0; behind < (1U << rolls.size()); ++behind) {
      const auto [places, isHere] = rolledFrom(b, rolls, behind);
      const auto part = b.readAt(input, places);
      if (!part) {
        return part;
      }
      value = value ? b.call("select", {isHere, *part, *value}) : *part;
    }
    return value;
  });
}

// Constant padding: pairs of before and after, from the last dimension on.
void lowerPad(const NodeView& node, OperationSink& sink) {
  const auto input = node.tensor(0, "self");
  const auto padding = node.integers(1, "pad");
  const auto mode = node.text(2, "mode");
  if (!input || !padding || (mode && *mode != "constant")) {
    return;
  }
  const double fill = node.number(mode ? 3 : 2, "value").value_or(0.0);
  addMove(sink, node.result(), {*input}, [input = *input, padding = *padding, fill](RegionBuilder& b) {
    std::vector<Coordinate> places = samePlaces(b);
    for (std::size_t pair = 0; pair * 2 + 1 < padding.size() && pair < places.size(); ++pair) {
      Coordinate& place = places[places.size() - 1 - pair];
      place.offset = -padding[pair * 2];
      place.checked = padding[pair * 2] > 0 || padding[pair * 2 + 1] > 0;
    }
    return b.readAt(input, places, fill);
  });
}

}  // namespace

void addConcatenation(OperationSink& sink, const std::vector<ValueId>& inputs, ValueId result, int dim) {
  addMove(sink, result, inputs, [inputs, dim](RegionBuilder& b) {
    const auto along = static_cast<std::size_t>(dim);
    const int at = b.coordinate(b.fullFrame()[along].front());
    std::int64_t start = 0;
    std::optional<int> value;
    for (const ValueId input : inputs) {
      std::vector<Coordinate> places = samePlaces(b);
      places[along].offset = -start;
      places[along].checked = true;
      const auto part = b.readAt(input, places);
      if (!part) {
        return part;
      }
      const int isHere = b.call("ge", {at, b.constant(static_cast<double>(start), Compute::I64)}, Compute::Bool);
      value = value ? b.call("select", {isHere, *part, *value}) : *part;
      start += b.type(input).shape[along];
    }
    return value;
  });
}

void registerOrder(LoweringTable& table) {
  table["aten.cumsum.default"] = scan(FoldKind::Sum);
  table["aten.cumprod.default"] = scan(FoldKind::Product);
  table["aten.cummax.default"] = scan(FoldKind::Maximum);
  table["aten.cummin.default"] = scan(FoldKind::Minimum);
  table["aten.flip.default"] = lowerFlip;
  table["aten.triu.default"] = triangle("ge");
  table["aten.tril.default"] = triangle("le");
  table["aten.cat.default"] = lowerCat;
  table["aten.glu.default"] = lowerGlu;
  table["aten.stack.default"] = lowerStack;
  table["aten.roll.default"] = lowerRoll;
  table["aten.constant_pad_nd.default"] = lowerPad;
  table["aten.pad.default"] = lowerPad;
}

}  // namespace swage::synth
