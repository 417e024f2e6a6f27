// SPDX-License-Identifier: Apache-2.0
#include "core/synth/strategies/product_parts.h"

#include "core/synth/sizes.h"

namespace swage::synth {

PartFormat partFormat(ProductMode mode, domain::ScalarType native) {
  switch (mode) {
    case ProductMode::Native:
    case ProductMode::Tf32Inputs:
    case ProductMode::Tf32: break;  // of recurrent layers, which have no parts
    case ProductMode::Fp16x3: return {domain::ScalarType::Float16, 2, 11, true};
    case ProductMode::Bf16x6: return {domain::ScalarType::BFloat16, 3, 0, true};
    case ProductMode::Fp16: return {domain::ScalarType::Float16, 1, 0, true};
    case ProductMode::Fp16Away: return {domain::ScalarType::Float16, 1, 0, true, true};
  }
  return {native, 1, 0, false};
}

PartPairs partPairs(ProductMode mode) {
  switch (mode) {
    case ProductMode::Native:
    case ProductMode::Fp16:
    case ProductMode::Fp16Away:
    case ProductMode::Tf32Inputs:
    case ProductMode::Tf32: break;
    case ProductMode::Fp16x3: return {{1, 0}, {0, 1}, {0, 0}};
    case ProductMode::Bf16x6: return {{2, 0}, {0, 2}, {1, 1}, {1, 0}, {0, 1}, {0, 0}};
  }
  return {{0, 0}};
}

std::string_view packing(ProductMode mode) {
  return mode == ProductMode::Fp16Away ? "packHalvesAway" : "packHalves";
}

// How a block walks over its lines: threads side by side take neighbours in memory.
struct OperandParts::Threads {
  std::int64_t lines = 0;  // of a block
  std::int64_t depth = 0;  // threads for each of them
  std::string line;        // of a thread
  std::string start;       // its first depth
};

OperandParts::OperandParts(const Region& region, const ProductShape& shape, Side side, PartFormat format, Padding tiles,
                           Neighbours neighbours)
    : m_shape(shape),
      m_format(format),
      m_prim(side == Side::Left ? shape.left : shape.right),
      m_line(side == Side::Left ? "row" : "column"),
      m_axes(side == Side::Left ? shape.rows : shape.columns),
      m_lineCount(side == Side::Left ? shape.rowCount : shape.columnCount),
      m_lineExtent(roundUp(m_lineCount, tiles.lines)),
      m_depthExtent(roundUp(shape.depthCount, tiles.depth)),
      m_isAlongDepth(neighbours == Neighbours::AsInOperand
                         ? isContiguousAlong(region, m_prim, shape.depth) || !isContiguousAlong(region, m_prim, m_axes)
                         : neighbours == Neighbours::AlongDepth) {}

std::string OperandParts::describe() const {
  if (!m_format.isScaled) {
    return fmt::format("Lays the {}s of an operand out in pieces of 16 bytes, with zeros up to whole tiles.", m_line);
  }
  return fmt::format(
      "Splits each number of a {0} into {1}, x * 2^exponent = {2}, where the exponent brings the largest magnitude of "
      "its {0} to 2^14. A {0} with an infinity or NaN becomes zeros; the product sees to it.",
      m_line, m_format.count == 2 ? "two halves" : "three bfloat16",
      m_format.shift != 0   ? "high + low / 2048"
      : m_format.count == 2 ? "high + low"
                            : "high + middle + low");
}

std::vector<domain::TensorType> OperandParts::scratch() const {
  std::vector<domain::TensorType> buffers{domain::contiguousTensor(m_format.type, {m_format.count * planeElements()})};
  if (m_format.isScaled) {
    buffers.push_back(domain::contiguousTensor(domain::ScalarType::Int32, {m_shape.batchCount * m_lineExtent}));
  }
  return buffers;
}

OperandParts::Threads OperandParts::threads() const {
  return m_isAlongDepth ? Threads{8, 32, "threadIdx.x / 32", "threadIdx.x % 32"}
                        : Threads{32, 32, "threadIdx.x % 32", "threadIdx.x / 32"};
}

domain::KernelStep OperandParts::step(const std::string& entry) const {
  domain::KernelStep step;
  step.entry = entry;
  step.grid.x = static_cast<std::uint32_t>(m_shape.batchCount * m_lineExtent / threads().lines);
  step.block.x = static_cast<std::uint32_t>(threads().lines * threads().depth);
  return step;
}

void OperandParts::write(KernelWriter& writer, const std::string& entry, const std::string& planes,
                         const std::string& exponents) const {
  const KernelWriter::Scope outside = writer.scope();
  Code& code = writer.code();
  const Threads threads = this->threads();
  const std::set<std::size_t> buffers = writer.buffersOf(m_prim);
  const std::int64_t blocks = m_lineExtent / threads.lines;
  code.open("extern \"C\" __global__ void __launch_bounds__({}) {}({}, {}* __restrict__ {}{})",
            threads.lines * threads.depth, entry, writer.parameters({buffers.begin(), buffers.end()}),
            writer.dialect().storageName(m_format.type), planes,
            m_format.isScaled ? fmt::format(", int* __restrict__ {}", exponents) : "");
  if (m_shape.batchCount > 1) {
    code.line("const int batch = blockIdx.x / {};", blocks);
    writer.decode("batch", m_shape.batch);
  }
  code.line("const int {} = blockIdx.x{} * {} + {};", m_line,
            m_shape.batchCount > 1 ? fmt::format(" % {}", blocks) : "", threads.lines, threads.line);
  code.line("const int start = {};", threads.start);
  writer.decode(m_line, m_axes);
  code.line("int count = {};", m_lineCount == m_lineExtent
                                   ? fmt::format("{}", m_shape.depthCount)
                                   : fmt::format("{} < {} ? {} : 0", m_line, m_lineCount, m_shape.depthCount));
  if (m_format.isScaled) {
    findScale(writer, threads, exponents);
  }
  writeParts(writer, threads, planes);
  code.close();
  code.blank();
  writer.leave(outside);
}

void OperandParts::findScale(KernelWriter& writer, const Threads& threads, const std::string& exponents) const {
  Code& code = writer.code();
  code.comment("The bits of magnitudes are ordered as these are, with infinity and NaN above all numbers.");
  code.line("__shared__ unsigned int found[{}][{}];", threads.lines, threads.depth);
  code.line("unsigned int largest = 0;");
  const KernelWriter::Scope outside = writer.scope();
  code.pragma("#pragma unroll 4");
  code.open("for (int depth = start; depth < count; depth += {})", threads.depth);
  writer.decode("depth", m_shape.depth);
  writer.compute({m_prim});
  code.line("largest = max(largest, __float_as_uint({}) & 0x7fffffffu);", writer.value(m_prim).text);
  code.close();
  writer.leave(outside);
  code.line("found[{}][start] = largest;", threads.line);
  code.line("__syncthreads();");
  code.open("for (int i = 0; i < {}; ++i)", threads.depth);
  code.line("largest = max(largest, found[{}][i]);", threads.line);
  code.close();
  code.line("const bool is_finite = largest < 0x7f800000u;");
  code.line("const int exponent = min(141 - static_cast<int>(largest >> 23), 126);  // 2^14 and below");
  code.line("const float scale = __int_as_float((exponent + 127) << 23);");
  code.open("if (start == 0)");
  code.line("{}[{}{}] = is_finite ? -exponent : kNotFinite;", exponents,
            m_shape.batchCount > 1 ? fmt::format("batch * {} + ", m_lineExtent) : "", m_line);
  code.close();
  code.line("count = is_finite ? count : 0;");
}

void OperandParts::writeParts(KernelWriter& writer, const Threads& threads, const std::string& planes) const {
  Code& code = writer.code();
  const KernelWriter::Scope outside = writer.scope();
  code.pragma("#pragma unroll 4");
  code.open("for (int depth = start; depth < {}; depth += {})", m_depthExtent, threads.depth);
  code.line("float rest = 0.0f;");
  code.open("if (depth < count)");
  writer.decode("depth", m_shape.depth);
  writer.compute({m_prim});
  code.line("rest = {}{};", operand(writer.value(m_prim), Expression::Term), m_format.isScaled ? " * scale" : "");
  code.close();
  store(writer, planes);
  code.close();
  writer.leave(outside);
}

void OperandParts::store(KernelWriter& writer, const std::string& planes) const {
  Code& code = writer.code();
  const bool isLarge = m_format.count * planeElements() > kLargestInt;
  const std::string line = m_shape.batchCount > 1
                               ? fmt::format("(batch * {} + {})", m_isAlongDepth ? m_lineExtent : m_depthExtent,
                                             m_isAlongDepth ? m_line : "depth")
                               : (m_isAlongDepth ? m_line : "depth");
  code.line("const {0} at = {1}{2} * {3} + {4};", isLarge ? "long long" : "int",
            isLarge ? "static_cast<long long>" : "", isLarge && line.front() != '(' ? "(" + line + ")" : line,
            m_isAlongDepth ? m_depthExtent : m_lineExtent, m_isAlongDepth ? "depth" : m_line);
  const std::string shorten = m_format.type == domain::ScalarType::Float16 ? "toHalf" : "toBFloat16";
  for (int part = 0; part < m_format.count; ++part) {
    const std::string place = part == 0 ? "at" : fmt::format("at + {}", part * planeElements());
    code.line("{}[{}] = {}({});", planes, place, shorten, m_format.isTiesAway ? "roundTiesAway(rest)" : "rest");
    if (part + 1 < m_format.count) {
      const std::string remainder = fmt::format("rest - toFloat({}(rest))", shorten);
      code.line("rest = {};", m_format.shift == 0
                                  ? remainder
                                  : fmt::format("({}) * {}.0f", remainder, std::int64_t{1} << m_format.shift));
    }
  }
}

}  // namespace swage::synth
