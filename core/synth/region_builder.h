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
// (none for a dimension of size 1).
using Frame = std::vector<std::vector<int>>;

// Writes the scalar program of a region, operation by operation. The axes are fixed first from the operation that
// decides them; every other operation must then fit, or lowering fails and the cut is not legal.
class RegionBuilder {
 public:
  // `space`: shape all elements of the region span; `reducedDims`: which of its dimensions are reduced;
  // `splitDim`: a dimension that becomes two axes, of extents splitOuter and size / splitOuter; -1: none.
  struct Layout {
    domain::Shape space;
    std::vector<int> reducedDims;
    int splitDim = -1;
    std::int64_t splitOuter = 1;
  };
  RegionBuilder(const std::vector<domain::TensorType>& values, Layout layout);

  // A scalar with the place its value has in the region.
  struct Operand {
    int prim = -1;
    Frame frame;
  };

  // --- operands
  // `value` as it appears inside a tensor of frame `frame` (right-aligned broadcasting).
  [[nodiscard]] std::optional<int> read(domain::ValueId value, const Frame& frame);
  // The frame a result of this shape has: that of an operand of the same shape made in this region, else by shape.
  [[nodiscard]] std::optional<Frame> frameFor(const domain::Shape& shape, const std::vector<domain::ValueId>& operands);
  [[nodiscard]] const Frame& fullFrame() const { return m_fullFrame; }
  [[nodiscard]] const Layout& layout() const { return m_layout; }
  [[nodiscard]] const domain::TensorType& type(domain::ValueId value) const {
    return m_values[static_cast<std::size_t>(value.value())];
  }

  // --- scalar program
  [[nodiscard]] int constant(double number, Compute type = Compute::F32);
  [[nodiscard]] int call(std::string_view function, std::vector<int> args, std::optional<Compute> type = std::nullopt);
  [[nodiscard]] int convert(int prim, Compute type);
  [[nodiscard]] int index();
  // Reduces over the region's reduced axes; the pair kinds have a second result in slot 1.
  [[nodiscard]] int reduce(ReduceKind kind, int prim);
  [[nodiscard]] int secondResult(int reduced, Compute type);
  [[nodiscard]] std::int64_t reducedCount() const;
  // `prim` over `count`, rounded once: a reciprocal would be rounded itself, but for a power of two.
  [[nodiscard]] int over(int prim, double count);
  [[nodiscard]] Compute typeOf(int prim) const { return m_program.prims[static_cast<std::size_t>(prim)].type; }

  // Declares the result of an operation.
  void define(domain::ValueId value, int prim, Frame frame);
  // Frame of a tensor whose reduced dimensions are gone or kept with size 1.
  enum class KeepDims : std::uint8_t { No, Yes };
  [[nodiscard]] Frame reducedFrame(KeepDims keep) const;

  // Stores the values in `outputs` (all must be defined) and returns the finished program.
  [[nodiscard]] std::optional<RegionProgram> finish(const std::vector<domain::ValueId>& outputs);

 private:
  [[nodiscard]] int add(Prim prim);
  [[nodiscard]] std::vector<std::int64_t> stridesOn(const domain::TensorType& type, const Frame& frame) const;
  [[nodiscard]] int accessFor(domain::ValueId value, const std::vector<std::int64_t>& strides, bool output);
  [[nodiscard]] bool coversReducedAxes(const Frame& frame) const;

  const std::vector<domain::TensorType>& m_values;
  Layout m_layout;
  Frame m_fullFrame;
  RegionProgram m_program;
  std::map<domain::ValueId, Operand> m_defined;
};

}  // namespace swage::synth
