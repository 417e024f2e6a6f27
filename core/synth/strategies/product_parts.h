// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/domain/launch_plan.h"
#include "core/domain/numeric_mode.h"
#include "core/synth/strategies/product.h"

// Operands of products on tensor cores, which multiply numbers of 16 bits. Longer ones are split into several, so that
// sums of products of the parts are the products to the accuracy of float.
namespace swage::synth {

using ProductMode = domain::NumericMode;

// The parts of one number: x * 2^e = sum of part[i] * 2^(-shift * i).
struct PartFormat {
  domain::ScalarType type = domain::ScalarType::Float16;
  int count = 1;
  int shift = 0;
  bool isScaled = false;
  bool isTiesAway = false;  // see NumericMode::Fp16Away
};
// Pairs of a left and a right part that are multiplied, the smallest products first; the last is of the first parts.
using PartPairs = std::vector<std::pair<int, int>>;

[[nodiscard]] PartFormat partFormat(ProductMode mode, domain::ScalarType native);
[[nodiscard]] PartPairs partPairs(ProductMode mode);
// The helper that makes the first halves of two floats.
[[nodiscard]] std::string_view packing(ProductMode mode);

// One side of a product as parts in scratch memory, written by a pass of its own before the product: planes of the same
// shape, one for each part, in which a line (a row of the left, a column of the right operand) and the depth are padded
// with zeros to whole tiles.
//
// With a scale, each line has a power of two that brings its largest magnitude near 2^14, where halves are exact to
// 2^-11 and the remainder to 2^-22 of it; the result is to be multiplied by 2^(exponent of the row + exponent of the
// column). A line with an infinity or NaN has the exponent kNotFinite (patterns/cuda/helpers.cuh) and parts of zero:
// who multiplies must see to it.
class OperandParts {
 public:
  struct Padding {
    std::int64_t lines = 1;
    std::int64_t depth = 1;
  };
  enum class Side : std::uint8_t { Left, Right };
  enum class Neighbours : std::uint8_t { AsInOperand, AlongDepth, AlongLines };

  // `shape` and the region must outlive it.
  OperandParts(const Region& region, const ProductShape& shape, Side side, PartFormat format, Padding tiles,
               Neighbours neighbours = Neighbours::AsInOperand);

  [[nodiscard]] const PartFormat& format() const { return m_format; }
  // Which neighbours are neighbours in a plane, as in the operand: those along the depth, else the lines.
  [[nodiscard]] bool isAlongDepth() const { return m_isAlongDepth; }
  [[nodiscard]] std::int64_t lineExtent() const { return m_lineExtent; }    // padded
  [[nodiscard]] std::int64_t depthExtent() const { return m_depthExtent; }  // padded
  [[nodiscard]] std::int64_t planeElements() const { return m_shape.batchCount * m_lineExtent * m_depthExtent; }

  // What the pass does, as a comment.
  [[nodiscard]] std::string describe() const;
  // The planes, then the exponents (int32 of [batch][line]) where there is a scale.
  [[nodiscard]] std::vector<domain::TensorType> scratch() const;
  [[nodiscard]] domain::KernelStep step(const std::string& entry) const;
  // The pass; it takes the buffers of the prim, the planes and the exponents. Names of these two as parameters.
  void write(KernelWriter& writer, const std::string& entry, const std::string& planes,
             const std::string& exponents) const;

 private:
  struct Threads;
  [[nodiscard]] Threads threads() const;
  void findScale(KernelWriter& writer, const Threads& threads, const std::string& exponents) const;
  void writeParts(KernelWriter& writer, const Threads& threads, const std::string& planes) const;
  void store(KernelWriter& writer, const std::string& planes) const;

  const ProductShape& m_shape;
  PartFormat m_format;
  int m_prim;
  std::string m_line;  // "row" or "column"
  const std::vector<std::size_t>& m_axes;
  std::int64_t m_lineCount;
  std::int64_t m_lineExtent;
  std::int64_t m_depthExtent;
  bool m_isAlongDepth;
};

}  // namespace swage::synth
