// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/domain/graph.h"

// A region: what one kernel computes, as a short chain of nests of loops that share their axes, their operands and one
// scalar program. Strategies decide how the loops are walked; nothing here knows of threads or vectors.
namespace swage::synth {

// The type a value has in registers. 16-bit floats are computed in F32 and rounded when stored.
enum class Compute : std::uint8_t { F32, F64, I64, Bool };
[[nodiscard]] Compute computeType(domain::ScalarType stored);

// What a loop is for.
enum class AxisRole : std::uint8_t {
  Batch,   // numbers independent results
  M,       // of a product: rows of the result, an axis of the left operand alone
  N,       // of a product: columns of the result, an axis of the right operand alone
  K,       // folded away
  Window,  // folded away; slides over an operand, whose elements several results share
  Scan,    // folded in order; every position has a result
  Depth,   // folded away before K, by a product whose sums K then folds: the size of a head in attention
};

struct Axis {
  std::int64_t extent = 1;
  AxisRole role = AxisRole::Batch;
  // An axis of a product's results, or the places of a window on the axis before it, which folds of these go over
  // (Fold::later).
  bool isFoldedLater = false;

  [[nodiscard]] bool isFolded() const {
    return role == AxisRole::K || role == AxisRole::Window || role == AxisRole::Depth;
  }
  friend bool operator==(const Axis&, const Axis&) = default;
};

// A dimension of a tensor that no axis walks along directly: a window that slides over it, padding around it, a stride
// that skips. Its coordinate is (offset + sum over axes of axis * factors[axis]) / divisor; where that is no whole
// number, or lies outside [0, extent), there is no element.
struct Bound {
  std::vector<std::int64_t> factors;  // one for each axis
  std::int64_t offset = 0;
  std::int64_t divisor = 1;
  std::int64_t extent = 1;
  std::int64_t stride = 1;  // elements of the tensor from one coordinate to the next
  friend bool operator==(const Bound&, const Bound&) = default;
};

// A tensor as the region addresses it: offset + sum over axes of axis * strides[axis], and what its bounds add.
struct Operand {
  domain::ValueId value;
  domain::ScalarType dtype = domain::ScalarType::Float32;
  std::vector<std::int64_t> strides;  // one for each axis, in elements
  bool output = false;
  std::int64_t offset = 0;         // in elements
  std::vector<Bound> bounds = {};  // empty for most: every element is there
  double fill = 0.0;               // what is read where there is no element

  // Along the innermost axis; 0 in a region of one element, which has no axes.
  [[nodiscard]] std::int64_t innerStride() const { return strides.empty() ? 0 : strides.back(); }
  [[nodiscard]] bool walksAlong(std::size_t axis) const;
  friend bool operator==(const Operand&, const Operand&) = default;
};

enum class FoldKind : std::uint8_t {
  Sum,
  Product,
  Maximum,
  Minimum,
  ArgMaximum,
  ArgMinimum,   // two results: value and index of its first occurrence
  SoftmaxPair,  // two results: maximum m and sum of exp(x - m), in one pass (Milakov and Gimelshein, 2018)
  MomentPair,   // two results: sum and centred sum of squares, in one pass (shifted data)
};

// One scalar operation in single static assignment form; its index in Region::prims is its name.
struct Prim {
  enum class Kind : std::uint8_t {
    Load,  // element of operand `operand`
    Constant,
    Call,        // `function` of `args`
    Folded,      // result `slot` of fold `fold`
    Index,       // position within the folded axes, in row-major order
    Coordinate,  // position along `axis`
  };
  Kind kind = Kind::Constant;
  Compute type = Compute::F32;
  std::string function;
  std::vector<int> args;
  int operand = -1;
  int fold = -1;
  int slot = 0;
  int axis = -1;
  double number = 0.0;
  domain::ValueId value;  // the graph's value that this is, where it is one: names and comments come from there

  bool perElement = false;  // differs between the elements of a group
  int ready = -1;           // the last stage whose results it needs; -1: none
};

// One reduction over the elements of each group, or along the axis of role Scan.
struct Fold {
  FoldKind kind = FoldKind::Sum;
  int input = -1;  // prim
  int stage = 0;   // 0 reads tensors only; k needs results of stage k-1
  std::int64_t count = 0;
  bool running = false;  // a scan: in order, with a result at every position
  bool inner = false;    // over the axes of role Depth alone: every position of K has a result; others fold the rest
  bool later = false;    // of what the sums of a product have become, over the axes that are marked so
};

struct Store {
  int operand = -1;
  int prim = -1;
};

enum class NestKind : std::uint8_t {
  Map,       // nothing is folded
  Reduce,    // folds of any order
  Contract,  // a sum of products of two operands that share the folded axes and have others of their own
  Scan,      // a fold in order
  Recur,     // steps in order, each of which is a product with what the step before made, and gates (Recurrence)
};

// One link of the chain: loops over all axes of the region that find the results of one stage, or store elements.
struct Nest {
  NestKind kind = NestKind::Map;
  std::vector<int> folds;  // of Region::folds; none: a map
};

// What a step of a recurrent layer does with its sums: torch.nn.LSTM, GRU and RNN, with their order of gates.
enum class CellKind : std::uint8_t { Lstm, Gru, Tanh, Relu };
[[nodiscard]] std::int64_t gateCount(CellKind kind);

// An operand with its three coordinates: element (i, j, k) is at offset + i * steps[0] + j * steps[1] + k * steps[2].
struct Placed {
  int operand = -1;  // -1: there is none
  std::array<std::int64_t, 3> steps{};
  std::int64_t offset = 0;

  [[nodiscard]] bool isThere() const { return operand >= 0; }
};

// One layer in one direction. Weights are row-major: rows are those of the gates, one gate after another.
struct RecurrentLayer {
  // Products of all inputs with the input weights, with the bias of the inputs: (step, batch, row). Not there: the
  // inputs are what the layer before made, and are multiplied here.
  Placed products;
  int inputWeight = -1;  // operands; the first two only where there are no products, biases where the model has them
  int inputBias = -1;
  int hiddenWeight = -1;
  int hiddenBias = -1;
  Placed initial;  // (0, batch, unit): the state before the first step
  Placed initialCell;
  Placed result;  // (step, batch, unit), where anybody reads them
  Placed last;    // (0, batch, unit): the state after the last step, where anybody reads it
  Placed lastCell;
  bool isReversed = false;  // from the last step to the first
};

// Recurrent layers: a stack, each of which reads what the one before made, or the directions of one layer.
struct Recurrence {
  CellKind cell = CellKind::Lstm;
  std::int64_t steps = 1;
  std::int64_t batch = 1;
  std::int64_t units = 1;
  std::vector<RecurrentLayer> layers;

  [[nodiscard]] std::int64_t rows() const { return gateCount(cell) * units; }
  // Whether layers read what the layer before them made.
  [[nodiscard]] bool isStack() const;
  // All that are mentioned, each once, in ascending order.
  [[nodiscard]] std::vector<int> operands() const;
};

struct Region {
  std::vector<Axis> axes;  // outermost first
  std::vector<Operand> operands;
  std::vector<Prim> prims;  // those that others need come first
  std::vector<Fold> folds;
  std::vector<Store> elementStores;  // one value for each element
  // One value for each group. Behind a product, results are groups; with later folds, some values are one for all
  // results along the axes of these.
  std::vector<Store> groupStores;
  std::vector<Nest> nests;                    // the stages in order, then the map where elements are stored
  std::optional<Recurrence> recurrence = {};  // then there are no prims: the gates are a part of it
  bool mayRound = false;  // PyTorch itself rounds the operands of this product to TF32 by its default settings
  // Where PyTorch rounds the operands of this convolution to TF32, ties probably go away from zero: a guess.
  bool roundsTiesAway = false;

  [[nodiscard]] int stageCount() const;
  [[nodiscard]] std::int64_t groupCount() const;
  [[nodiscard]] std::int64_t reducedCount() const;
  [[nodiscard]] bool hasReduction() const { return !folds.empty(); }
  // The most demanding of its nests: what a strategy has to be made for.
  [[nodiscard]] NestKind kind() const;
  // Whether results of a product are folded in turn.
  [[nodiscard]] bool foldsLater() const;
  // Whether some operand has bounds.
  [[nodiscard]] bool hasBounds() const;
  [[nodiscard]] bool hasRole(AxisRole role) const;
};

// Makes an axis one with the one before it: every operand must walk through both as through one.
void joinWithOuter(Region& region, std::size_t axis);
// Drops axes of extent 1 and joins neighbours that every operand walks through as one.
void collapseAxes(Region& region);
// Counts the positions of an axis from its other end: the elements stay the same. Nothing may name a position of it.
void turnAxis(Region& region, std::size_t axis);
// Whether something names the position along an axis.
[[nodiscard]] bool isAxisNamed(const Region& region, std::size_t axis);
// Whether an operand differs between the elements of a group: it lies along a folded axis, or nothing is folded.
[[nodiscard]] bool walksElements(const Region& region, const Operand& operand);
// Turns a maximum followed by a sum of exponentials, or a mean followed by a sum of squared deviations, into one
// stage, so that the data is read once less. Returns whether anything changed.
enum class Changed : std::uint8_t { No, Yes };
Changed fuseStages(Region& region);
// Whether that would change anything.
[[nodiscard]] bool canFuseStages(const Region& region);
// Removes prims nothing needs, and recomputes perElement, ready and the nests.
void finalise(Region& region);

}  // namespace swage::synth
