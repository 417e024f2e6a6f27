// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/domain/graph.h"

// The scalar program of a region: what is computed for one element and for one group of elements, and how the
// tensors are addressed. Patterns give the loops and the parallelism around it.
namespace swage::synth {

// The type a value has in registers. 16-bit floats are computed in F32 and rounded when stored.
enum class Compute : std::uint8_t { F32, F64, I64, Bool };
[[nodiscard]] Compute computeType(domain::ScalarType stored);

enum class ReduceKind : std::uint8_t {
  Sum,
  Product,
  Maximum,
  Minimum,
  ArgMaximum,
  ArgMinimum,   // two results: value and index of its first occurrence
  SoftmaxPair,  // two results: maximum m and sum of exp(x - m), in one pass (Milakov and Gimelshein, 2018)
  MomentPair,   // two results: sum and centred sum of squares, in one pass (shifted data)
};

// One scalar operation in single static assignment form; its index in RegionProgram::prims is its name.
struct Prim {
  enum class Kind : std::uint8_t {
    Load,  // element `access` of a tensor
    Constant,
    Call,     // `function` of `args`
    Reduced,  // result `slot` of reducer `reducer`
    Index,    // position within the reduced axes, in row-major order
  };
  Kind kind = Kind::Constant;
  Compute type = Compute::F32;
  std::string function;
  std::vector<int> args;
  int access = -1;
  int reducer = -1;
  int slot = 0;
  double number = 0.0;

  bool perElement = false;  // differs between the elements of a group
  int ready = -1;           // the last stage whose results it needs; -1: none
};

// One reduction over the elements of each group.
struct Reducer {
  ReduceKind kind = ReduceKind::Sum;
  int input = -1;  // prim
  int stage = 0;   // 0 reads tensors only; k needs results of stage k-1
  std::int64_t count = 0;
};

// A tensor as the region addresses it: offset = sum over axes of coordinate * stride.
struct Access {
  domain::ValueId value;
  domain::ScalarType dtype = domain::ScalarType::Float32;
  std::vector<std::int64_t> strides;  // one for each axis, in elements
  bool output = false;

  // Along the innermost axis; 0 in a region of one element, which has no axes.
  [[nodiscard]] std::int64_t innerStride() const { return strides.empty() ? 0 : strides.back(); }
};

struct Axis {
  std::int64_t extent = 1;
  bool reduced = false;
};

struct Store {
  int access = -1;
  int prim = -1;
};

struct RegionProgram {
  std::vector<Axis> axes;
  std::vector<Access> accesses;
  std::vector<Prim> prims;
  std::vector<Reducer> reducers;
  std::vector<Store> elementStores;  // one value for each element
  std::vector<Store> groupStores;    // one value for each group

  [[nodiscard]] int stageCount() const;
  [[nodiscard]] std::int64_t groupCount() const;
  [[nodiscard]] std::int64_t reducedCount() const;
  [[nodiscard]] bool hasReduction() const { return !reducers.empty(); }
};

// Drops axes of extent 1 and joins neighbours that every access walks through as one.
void collapseAxes(RegionProgram& program);
// Turns a maximum followed by a sum of exponentials, or a mean followed by a sum of squared deviations, into one
// stage, so that the data is read once less. Returns whether anything changed.
enum class Changed : std::uint8_t { No, Yes };
Changed fuseStages(RegionProgram& program);
// Removes prims nothing needs, and recomputes perElement and ready.
void finalise(RegionProgram& program);

}  // namespace swage::synth
