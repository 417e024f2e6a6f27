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

LowerNode scan(FoldKind kind) {
  return [kind](const NodeView& node, OperationSink& sink) {
    const auto input = node.tensor(0, "self");
    const auto dim = node.integer(1, "dim");
    const ValueId result = node.result();
    if (!input || !dim || !domain::isFloating(node.type(*input).dtype) ||
        node.type(result).dtype != node.type(*input).dtype) {
      return;
    }
    const Shape& shape = node.type(*input).shape;
    const int wrapped = wrapDim(*dim, shape.size());
    if (wrapped < 0) {
      return;
    }
    Operation operation;
    operation.inputs = {*input};
    operation.outputs = {result};
    operation.layout.space = shape;
    operation.layout.roles.assign(shape.size(), AxisRole::Batch);
    operation.layout.roles[static_cast<std::size_t>(wrapped)] = AxisRole::Scan;
    operation.lower = [input = *input, result, kind](RegionBuilder& b) {
      const auto x = b.read(input, b.fullFrame());
      if (!x) {
        return false;
      }
      b.define(result, b.scan(kind, *x), b.fullFrame());
      return true;
    };
    sink.add(std::move(operation));
  };
}

// --- moves -----------------------------------------------------------------------------------------------------------

// One operation that reads every element of its result from somewhere.
void addMove(const NodeView& node, OperationSink& sink, std::vector<ValueId> inputs,
             std::function<std::optional<int>(RegionBuilder&)> element) {
  const ValueId result = node.result();
  const auto isPlain = [&](ValueId value) { return node.type(value).dtype == node.type(result).dtype; };
  if (!result.isValid() || !domain::isFloating(node.type(result).dtype) ||
      !std::all_of(inputs.begin(), inputs.end(), isPlain)) {
    return;
  }
  Operation operation;
  operation.inputs = std::move(inputs);
  operation.outputs = {result};
  operation.layout.space = node.type(result).shape;
  operation.lower = [result, element = std::move(element)](RegionBuilder& b) {
    // Places are counted along the dimensions of the result, so the region must have been built for its shape.
    if (b.layout().space != b.type(result).shape) {
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

void lowerFlip(const NodeView& node, OperationSink& sink) {
  const auto input = node.tensor(0, "self");
  const auto dims = node.integers(1, "dims");
  if (!input || !dims) {
    return;
  }
  addMove(node, sink, {*input}, [input = *input, dims = *dims](RegionBuilder& b) {
    std::vector<Coordinate> places = samePlaces(b);
    for (const std::int64_t dim : dims) {
      const int wrapped = wrapDim(dim, places.size());
      if (wrapped < 0) {
        return std::optional<int>();
      }
      Coordinate& place = places[static_cast<std::size_t>(wrapped)];
      place.terms.front().factor = -1;
      place.offset = b.type(input).shape[static_cast<std::size_t>(wrapped)] - 1;
    }
    return b.readAt(input, places);
  });
}

// The part of a matrix above or below a diagonal; the rest is zero.
LowerNode triangle(std::string_view keeps) {
  return [keeps](const NodeView& node, OperationSink& sink) {
    const auto input = node.tensor(0, "self");
    const std::int64_t diagonal = node.integer(1, "diagonal").value_or(0);
    if (!input || node.type(*input).shape.size() < 2) {
      return;
    }
    addMove(node, sink, {*input}, [input = *input, diagonal, keeps](RegionBuilder& b) {
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
  constexpr std::size_t kMostInputs = 8;
  const bool fits = std::all_of(inputs.begin(), inputs.end(),
                                [&](ValueId input) { return node.type(input).shape.size() == shape.size(); });
  if (dim < 0 || inputs.empty() || inputs.size() > kMostInputs || !fits) {
    return;
  }
  addMove(node, sink, inputs, [inputs, dim](RegionBuilder& b) {
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

// Constant padding: pairs of before and after, from the last dimension on.
void lowerPad(const NodeView& node, OperationSink& sink) {
  const auto input = node.tensor(0, "self");
  const auto padding = node.integers(1, "pad");
  const auto mode = node.text(2, "mode");
  if (!input || !padding || (mode && *mode != "constant")) {
    return;
  }
  const double fill = node.number(mode ? 3 : 2, "value").value_or(0.0);
  addMove(node, sink, {*input}, [input = *input, padding = *padding, fill](RegionBuilder& b) {
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

void registerOrder(LoweringTable& table) {
  table["aten.cumsum.default"] = scan(FoldKind::Sum);
  table["aten.cumprod.default"] = scan(FoldKind::Product);
  table["aten.flip.default"] = lowerFlip;
  table["aten.triu.default"] = triangle("ge");
  table["aten.tril.default"] = triangle("le");
  table["aten.cat.default"] = lowerCat;
  table["aten.constant_pad_nd.default"] = lowerPad;
  table["aten.pad.default"] = lowerPad;
}

}  // namespace swage::synth
