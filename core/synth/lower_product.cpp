// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <numeric>

#include "core/synth/lowering.h"

// Products: sums over axes that two operands share. Each dimension is named by a letter, as in an einsum.
namespace swage::synth {
namespace {

using domain::ValueId;
using Term = RegionBuilder::Coordinate::Term;

struct Product {
  ValueId a;
  ValueId b;
  ValueId result;
  std::string aLetters = {};
  std::string bLetters = {};
  std::string resultLetters = {};
  double scale = 1.0;
  std::optional<ValueId> bias = {};  // broadcast against the result
  double biasScale = 1.0;
  bool mayRound = false;  // see Region
};

bool has(const std::string& letters, char letter) {
  return letters.find(letter) != std::string::npos;
}

// The extent of each letter. No value: the shapes do not agree.
std::optional<std::map<char, std::int64_t>> extentsOf(const Product& product, const NodeView& node) {
  std::map<char, std::int64_t> extents;
  const auto read = [&](const std::string& letters, const domain::Shape& shape) {
    if (letters.size() != shape.size()) {
      return false;
    }
    for (std::size_t dim = 0; dim < shape.size(); ++dim) {
      std::int64_t& extent = extents.try_emplace(letters[dim], 1).first->second;
      if (extent != 1 && shape[dim] != 1 && shape[dim] != extent) {
        return false;
      }
      extent = std::max(extent, shape[dim]);
    }
    return true;
  };
  const bool agree = read(product.aLetters, node.type(product.a).shape) &&
                     read(product.bLetters, node.type(product.b).shape) &&
                     product.resultLetters.size() == node.type(product.result).shape.size();
  return agree ? std::optional(extents) : std::nullopt;
}

// Where each dimension of an operand lies; one of size 1 is the same along its letter.
std::vector<RegionBuilder::Coordinate> placesOf(const std::string& letters, const domain::Shape& shape,
                                                const std::map<char, int>& axes) {
  std::vector<RegionBuilder::Coordinate> places;
  for (std::size_t dim = 0; dim < shape.size(); ++dim) {
    RegionBuilder::Coordinate place;
    if (shape[dim] != 1) {
      place.terms.push_back(Term{axes.at(letters[dim]), 1});
    }
    places.push_back(std::move(place));
  }
  return places;
}

bool lowerSum(RegionBuilder& b, const Product& product, const std::string& folded) {
  std::map<char, int> axes;
  for (std::size_t dim = 0; dim < product.resultLetters.size(); ++dim) {
    axes[product.resultLetters[dim]] = b.fullFrame()[dim].front();
  }
  for (std::size_t i = 0; i < folded.size(); ++i) {
    axes[folded[i]] = b.moreAxis(i);
  }
  const auto left = b.readAt(product.a, placesOf(product.aLetters, b.type(product.a).shape, axes));
  const auto right = b.readAt(product.b, placesOf(product.bLetters, b.type(product.b).shape, axes));
  if (!left || !right) {
    return false;
  }
  int value = b.reduce(FoldKind::Sum, b.call("mul", {*left, *right}));
  if (product.scale != 1.0) {
    value = b.call("mul", {value, b.constant(product.scale, b.typeOf(value))});
  }
  if (product.bias) {
    const auto bias = b.read(*product.bias, b.fullFrame());
    if (!bias) {
      return false;
    }
    const int scaled =
        product.biasScale == 1.0 ? *bias : b.call("mul", {*bias, b.constant(product.biasScale, b.typeOf(*bias))});
    value = b.call("add", {value, scaled});
  }
  if (product.mayRound) {
    b.allowRounding();
  }
  b.define(product.result, value, b.fullFrame());
  return true;
}

void addProduct(const NodeView& node, OperationSink& sink, const Product& product) {
  const auto isFloating = [&](ValueId value) { return domain::isFloating(node.type(value).dtype); };
  const auto extents = extentsOf(product, node);
  if (!extents || !isFloating(product.a) || !isFloating(product.b) || !isFloating(product.result)) {
    return;
  }
  Operation operation;
  operation.inputs = {product.a, product.b};
  if (product.bias) {
    operation.inputs.push_back(*product.bias);
  }
  operation.outputs = {product.result};
  operation.layout.space = node.type(product.result).shape;
  for (const char letter : product.resultLetters) {
    const bool inA = has(product.aLetters, letter);
    const bool inB = has(product.bLetters, letter);
    operation.layout.roles.push_back(inA && inB ? AxisRole::Batch : inA ? AxisRole::M : AxisRole::N);
  }
  std::string folded;
  for (const auto& [letter, extent] : *extents) {
    if (!has(product.resultLetters, letter)) {
      folded += letter;
      operation.layout.more.push_back({extent, AxisRole::K});
    }
  }
  if (folded.empty()) {
    return;  // an outer product: PyTorch's own, until somebody misses it
  }
  operation.lower = [product, folded](RegionBuilder& b) { return lowerSum(b, product, folded); };
  sink.add(std::move(operation));
}

// Letters for `count` dimensions from `first` on.
std::string lettersFrom(char first, std::size_t count) {
  std::string letters(count, first);
  std::iota(letters.begin(), letters.end(), first);
  return letters;
}

// torch.matmul: the last two dimensions are multiplied, those before are broadcast.
std::optional<Product> matmul(const NodeView& node) {
  const auto a = node.tensor(0, "self");
  const auto b = node.tensor(1, node.has(1, "mat2") ? "mat2" : "other");
  if (!a || !b) {
    return std::nullopt;
  }
  Product product{*a, *b, node.result()};
  const std::size_t rankA = node.type(*a).shape.size();
  const std::size_t rankB = node.type(*b).shape.size();
  constexpr std::size_t kMostDims = 12;
  if (rankA == 0 || rankB == 0 || rankA > kMostDims || rankB > kMostDims) {
    return std::nullopt;
  }
  const std::size_t batchA = rankA > 2 ? rankA - 2 : 0;
  const std::size_t batchB = rankB > 2 ? rankB - 2 : 0;
  const std::string batch = lettersFrom('a', std::max(batchA, batchB));
  const std::string rows = rankA > 1 ? "x" : "";
  const std::string columns = rankB > 1 ? "y" : "";
  product.aLetters = batch.substr(batch.size() - batchA) + rows + "z";
  product.bLetters = batch.substr(batch.size() - batchB) + "z" + columns;
  product.resultLetters = batch + rows + columns;
  return product;
}

void lowerMatmul(const NodeView& node, OperationSink& sink) {
  if (const auto product = matmul(node)) {
    addProduct(node, sink, *product);
  }
}

// beta * bias + alpha * (a @ b)
void lowerAddmm(const NodeView& node, OperationSink& sink) {
  const auto bias = node.tensor(0, "self");
  const auto a = node.tensor(1, "mat1");
  const auto b = node.tensor(2, "mat2");
  if (!bias || !a || !b) {
    return;
  }
  const bool isBatched = node.type(*a).shape.size() == 3;
  Product product{*a, *b, node.result(), isBatched ? "axz" : "xz", isBatched ? "azy" : "zy", isBatched ? "axy" : "xy"};
  product.scale = node.number(4, "alpha").value_or(1.0);
  product.bias = bias;
  product.biasScale = node.number(3, "beta").value_or(1.0);
  addProduct(node, sink, product);
}

// x @ weight.T + bias
void lowerLinear(const NodeView& node, OperationSink& sink) {
  const auto x = node.tensor(0, "input");
  const auto weight = node.tensor(1, "weight");
  if (!x || !weight || node.type(*weight).shape.size() != 2 || node.type(*x).shape.empty()) {
    return;
  }
  addLinear(node, sink, {*x, *weight, node.tensor(2, "bias"), node.result()});
}

// Two operands, each letter at most once in each, and the result named.
void lowerEinsum(const NodeView& node, OperationSink& sink) {
  const auto equation = node.text(0, "equation");
  const std::vector<ValueId> operands = domain::inputsOf(node.node());
  if (!equation || operands.size() != 2) {
    return;
  }
  std::string text(*equation);
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  const std::size_t comma = text.find(',');
  const std::size_t arrow = text.find("->");
  if (comma == std::string::npos || arrow == std::string::npos || comma > arrow) {
    return;
  }
  const Product product{operands[0],
                        operands[1],
                        node.result(),
                        text.substr(0, comma),
                        text.substr(comma + 1, arrow - comma - 1),
                        text.substr(arrow + 2)};
  for (const std::string* letters : {&product.aLetters, &product.bLetters, &product.resultLetters}) {
    const bool isPlain = std::all_of(letters->begin(), letters->end(), [&](char letter) {
      const bool isLetter = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
      return isLetter && std::count(letters->begin(), letters->end(), letter) == 1;
    });
    if (!isPlain) {
      return;
    }
  }
  addProduct(node, sink, product);
}

}  // namespace

void addLinear(const NodeView& values, OperationSink& sink, const LinearParts& parts) {
  const std::string rows = lettersFrom('a', values.type(parts.x).shape.size() - 1);
  Product product{parts.x, parts.weight, parts.result, rows + "z", "yz", rows + "y"};
  product.bias = parts.bias;
  product.mayRound = parts.mayRound;
  addProduct(values, sink, product);
}

void registerProducts(LoweringTable& table) {
  for (const char* name :
       {"aten.matmul.default", "aten.mm.default", "aten.bmm.default", "aten.mv.default", "aten.dot.default"}) {
    table[name] = lowerMatmul;
  }
  table["aten.addmm.default"] = lowerAddmm;
  table["aten.baddbmm.default"] = lowerAddmm;
  table["aten.linear.default"] = lowerLinear;
  table["aten.einsum.default"] = lowerEinsum;
}

}  // namespace swage::synth
