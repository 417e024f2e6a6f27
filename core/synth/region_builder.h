// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/domain/graph.h"
#include "core/synth/region.h"

namespace swage::synth {

// How the dimensions of a tensor lie on the axes of a region: for each dimension the axes it covers, outermost first
// (none for a dimension of size 1). An axis that the dimension goes along backwards, as after a flip, is its
// complement.
using Frame = std::vector<std::vector<int>>;
[[nodiscard]] constexpr int axisOf(int place) {
  return place < 0 ? ~place : place;
}

// Where a value lies that is a part of another one.
struct PartPlace {
  domain::ValueId whole;
  std::int64_t offset = 0;  // in elements; the strides are those of the value's type
};
using PartPlaces = std::map<domain::ValueId, PartPlace>;

// Writes the scalar program of a region, operation by operation. The axes are fixed first from the operation that
// decides them; every other operation must then fit, or lowering fails and the cut is not legal.
class RegionBuilder {
 public:
  // `space`: shape all elements of the region span; `reducedDims`: which of its dimensions are reduced;
  // `splitDim`: a dimension that becomes two axes, of extents splitOuter and size / splitOuter; -1: none.
  // `roles`: of the dimensions of `space`; empty: K for those reduced, Batch for the others. `more`: axes that are no
  // dimension of `space`, such as the folded ones of a product whose space is that of its result.
  struct Layout {
    domain::Shape space;
    std::vector<int> reducedDims;
    int splitDim = -1;
    std::int64_t splitOuter = 1;
    std::vector<AxisRole> roles = {};
    std::vector<Axis> more = {};
    bool isCutLater = false;  // splitDim is that of a fold of these results: both parts have the role of the dimension
    // The shape of the tensor that windows without overlap read; empty: they overlap, or there are none. Its last
    // dimensions are cut into windows, one for each axis of `more`; elements left over at an end are not read. What
    // makes it may be computed in this region.
    domain::Shape tiled = {};
    // Of a convolution whose results a pooling folds in this region: the sizes of windows without overlap that the last
    // dimensions of `space` are cut into; then `tiled` is `space`. A dimension becomes two axes, of the windows and of
    // the places in each; results left over at an end are not made.
    std::vector<std::int64_t> cut = {};
    friend bool operator==(const Layout&, const Layout&) = default;
  };
  // `places` of values that are parts of others.
  RegionBuilder(const std::vector<domain::TensorType>& values, Layout layout, const PartPlaces& places);

  // A scalar with the place its value has in the region.
  struct Scalar {
    int prim = -1;
    Frame frame;
  };

  // --- operands
  // `value` as it appears inside a tensor of frame `frame` (right-aligned broadcasting).
  [[nodiscard]] std::optional<int> read(domain::ValueId value, const Frame& frame);
  // Where an element of a tensor lies along one of its dimensions:
  // (offset + sum over terms of axis * factor) / divisor. `checked`: it may lie outside the tensor, or between
  // elements.
  struct Coordinate {
    struct Term {
      int axis = -1;
      std::int64_t factor = 1;
    };
    std::vector<Term> terms;
    std::int64_t offset = 0;
    std::int64_t divisor = 1;
    bool checked = false;
  };
  // The element of `value` with these coordinates, one for each of its dimensions, or `fill` where there is none.
  [[nodiscard]] std::optional<int> readAt(domain::ValueId value, const std::vector<Coordinate>& coordinates,
                                          double fill = 0.0);
  // Where a value lies that is made in this region; none: it is made elsewhere.
  [[nodiscard]] std::optional<Frame> frameOf(domain::ValueId value) const;
  // The frame a result of this shape has: that of an operand of the same shape made in this region, else by shape.
  [[nodiscard]] std::optional<Frame> frameFor(const domain::Shape& shape, const std::vector<domain::ValueId>& operands);
  // From here on an axis is counted from its other end, wherever it is mentioned. False: something names a position.
  [[nodiscard]] bool turn(int axis);
  [[nodiscard]] const Frame& fullFrame() const { return m_fullFrame; }
  // That of all elements of a tensor as large as the region's space, or as what its windows cut into tiles.
  [[nodiscard]] std::optional<Frame> elementFrame(const domain::Shape& shape) const;
  // That of the results of windows: a place for each window that the space is cut into, else for each element.
  [[nodiscard]] Frame windowFrame() const;
  // The coordinate along a dimension of the space, times `factor`.
  [[nodiscard]] std::vector<Coordinate::Term> along(std::size_t dim, std::int64_t factor = 1) const;
  [[nodiscard]] const Layout& layout() const { return m_layout; }
  // The axis number `index` of Layout::more.
  [[nodiscard]] int moreAxis(std::size_t index) const;
  [[nodiscard]] const domain::TensorType& type(domain::ValueId value) const {
    return m_values[static_cast<std::size_t>(value.value())];
  }

  // --- scalar program
  [[nodiscard]] int constant(double number, Compute type = Compute::F32);
  [[nodiscard]] int call(std::string_view function, std::vector<int> args, std::optional<Compute> type = std::nullopt);
  [[nodiscard]] int convert(int prim, Compute type);
  [[nodiscard]] int index();
  // Position along an axis, as an integer.
  [[nodiscard]] int coordinate(int axis);
  // Reduces over the region's reduced axes; the pair kinds have a second result in slot 1.
  [[nodiscard]] int reduce(FoldKind kind, int prim);
  // From here on reduce() and reducedFrame() are those of this layout: what a product has made in this region is folded
  // in turn. False: this region has no such results, or they are folded over other dimensions already.
  [[nodiscard]] bool reduceLater(const Layout& layout);
  // The same for windows that the results of a convolution are cut into.
  [[nodiscard]] bool poolLater(const Layout& layout);
  // The same over the axes of role Depth alone.
  [[nodiscard]] int reduceDepth(FoldKind kind, int prim);
  // The results so far along the axis of role Scan.
  [[nodiscard]] int scan(FoldKind kind, int prim);
  [[nodiscard]] int secondResult(int reduced, Compute type);
  [[nodiscard]] std::int64_t reducedCount() const;
  // `prim` over `count`, rounded once: a reciprocal would be rounded itself, but for a power of two.
  [[nodiscard]] int over(int prim, double count);
  [[nodiscard]] Compute typeOf(int prim) const { return m_program.prims[static_cast<std::size_t>(prim)].type; }

  // --- recurrent layers, which are a region by themselves
  // A tensor of the region, whole.
  [[nodiscard]] int tensor(domain::ValueId value, bool isOutput = false);
  void recur(Recurrence recurrence) { m_program.recurrence = std::move(recurrence); }

  // PyTorch itself rounds the operands of the product in this region.
  void allowRounding() { m_program.mayRound = true; }
  // Where PyTorch rounds them, it probably rounds ties away from zero.
  void expectTiesAway() { m_program.roundsTiesAway = true; }

  // Declares the result of an operation.
  void define(domain::ValueId value, int prim, Frame frame);
  // Frame of a tensor whose reduced dimensions are gone or kept with size 1.
  enum class KeepDims : std::uint8_t { No, Yes };
  [[nodiscard]] Frame reducedFrame(KeepDims keep) const;

  // Stores the values in `outputs` (all must be defined) and returns the finished program.
  [[nodiscard]] std::optional<Region> finish(const std::vector<domain::ValueId>& outputs);

 private:
  [[nodiscard]] int add(Prim prim);
  [[nodiscard]] Operand operandOn(domain::ValueId value, const Frame& frame) const;
  // What was addressed as the value itself is addressed in the whole that it is a part of.
  [[nodiscard]] Operand placed(Operand operand) const;
  [[nodiscard]] int operandFor(Operand operand);
  enum class Reach : std::uint8_t { Whole, Running, Depth, Later };
  [[nodiscard]] int fold(FoldKind kind, int prim, Reach reach);
  [[nodiscard]] std::int64_t countOf(Reach reach) const;
  // All folds of a product's results go over the same axes.
  [[nodiscard]] bool foldLater(const std::vector<bool>& isFolded);
  [[nodiscard]] std::int64_t windowOf(std::size_t dim) const;  // 1 where it is not cut
  [[nodiscard]] bool isWhole(const Frame& frame, const domain::Shape& shape) const;
  [[nodiscard]] bool coversElements(const Frame& frame) const;
  [[nodiscard]] std::int64_t extentOf(const std::vector<int>& places) const;
  [[nodiscard]] bool fits(std::int64_t size, const Frame& frame, std::size_t dim) const;
  [[nodiscard]] std::optional<Region> finishRecurrence(const std::vector<domain::ValueId>& outputs);

  const std::vector<domain::TensorType>& m_values;
  const PartPlaces& m_places;
  Layout m_layout;
  bool m_reducesLater = false;
  std::vector<int> m_reducedDims;  // of m_layout, or of what is folded later
  int m_reducedSplit = -1;         // that of them of which the outer part stays
  Frame m_fullFrame;
  Frame m_tiledFrame;  // of Layout::tiled
  Region m_program;
  std::map<domain::ValueId, Scalar> m_defined;
};

}  // namespace swage::synth
