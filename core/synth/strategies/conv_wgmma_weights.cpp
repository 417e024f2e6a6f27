// SPDX-License-Identifier: Apache-2.0
// The pass that lays out the weights of a convolution by wgmma, as text. A thread takes 8 channels of the input for one
// channel of the result, at all places of the window.
#include <algorithm>

#include "core/synth/sizes.h"
#include "core/synth/strategies/conv_wgmma.h"

namespace swage::synth {
namespace {

constexpr std::int64_t kThreadsOfPass = 256;
constexpr std::int64_t kMostLinesOfPass = 32;  // of a block, of which each threads side by side take another

// The windows of the convolution, outermost first.
std::vector<std::size_t> windowsOf(const HaloProblem& problem) {
  return {problem.shape.depth.begin(), problem.shape.depth.end() - 1};
}

class WeightsText {
 public:
  WeightsText(const HaloProblem& problem, const HaloWeights& weights, KernelWriter& writer)
      : m_problem(problem), m_weights(weights), m_writer(writer), m_code(writer.code()) {}

  void write(const std::string& entry, const std::string& planes, const std::string& exponents) {
    const KernelWriter::Scope outside = m_writer.scope();
    const std::set<std::size_t> buffers = m_writer.buffersOf(m_problem.shape.right);
    const bool isScaled = m_weights.format.isScaled;
    m_code.comment(isScaled ? "The weights as halves, x * 2^exponent, where the exponent brings the largest magnitude "
                              "of each channel of the result to 2^14. A channel with an infinity or NaN becomes zeros."
                            : "The weights, 8 channels of the input side by side.");
    m_code.open("extern \"C\" __global__ void __launch_bounds__({}) {}({}, {}* __restrict__ {}{})", kThreadsOfPass,
                entry, m_writer.parameters({buffers.begin(), buffers.end()}), storage(), planes,
                isScaled ? fmt::format(", int* __restrict__ {}", exponents) : "");
    openLine();
    if (isScaled) {
      findScale(exponents);
    }
    layOut(planes);
    m_code.close();
    m_code.blank();
    m_writer.leave(outside);
  }

 private:
  [[nodiscard]] std::string_view storage() const { return m_writer.dialect().storageName(m_weights.format.type); }
  [[nodiscard]] bool isBatched() const { return m_problem.shape.batchCount > 1; }
  [[nodiscard]] std::int64_t pieces() const { return m_problem.paddedChannels() / 8; }

  void openLine() {
    const std::int64_t blocks = m_weights.lines / m_weights.linesOfBlock();
    if (isBatched()) {
      m_code.line("const int batch = blockIdx.x / {};", blocks);
      m_writer.decode("batch", m_problem.shape.batch);
    }
    m_code.line("const int line = threadIdx.x % {};", m_weights.linesOfBlock());
    m_code.line("const int column = blockIdx.x{} * {} + line;", isBatched() ? fmt::format(" % {}", blocks) : "",
                m_weights.linesOfBlock());
    m_code.line("const int start = threadIdx.x / {};", m_weights.linesOfBlock());
    m_writer.decode("column", m_problem.shape.columns);
    const std::int64_t columns = m_problem.shape.columnCount;
    m_code.line("{}bool is_there = {};", m_weights.format.isScaled ? "" : "const ",
                columns == m_weights.lines ? "true" : fmt::format("column < {}", columns));
  }

  // Over the pieces of a thread and the places of the window; returns how many blocks were opened.
  int openPlaces() {
    m_code.open("for (int piece = start; piece < {}; piece += {})", pieces(),
                kThreadsOfPass / m_weights.linesOfBlock());
    int count = 1;
    for (const std::size_t window : windowsOf(m_problem)) {
      const std::string name = fmt::format("place{}", count);
      const std::int64_t extent = m_problem.region.axes[window].extent;
      m_code.pragma(count == static_cast<int>(windowsOf(m_problem).size()) && extent <= 4 ? "#pragma unroll"
                                                                                          : "#pragma unroll 1");
      m_code.open("for (int {0} = 0; {0} < {1}; ++{0})", name, extent);
      m_writer.bindAxis(window, name);
      ++count;
    }
    return count;
  }

  void openChannels() {
    m_code.pragma("#pragma unroll");
    m_code.open("for (int c = 0; c < 8; ++c)");
    m_code.line("const int channel = piece * 8 + c;");
    m_writer.bindAxis(m_problem.channel, "channel");
  }

  void closeAll(int count) {
    for (int i = 0; i < count; ++i) {
      m_code.close();
    }
  }

  void findScale(const std::string& exponents) {
    const KernelWriter::Scope outside = m_writer.scope();
    m_code.line("__shared__ unsigned int found[{}];  // the bits of the largest magnitudes, infinity and NaN above all",
                m_weights.linesOfBlock());
    m_code.open("if (start == 0)");
    m_code.line("found[line] = 0;");
    m_code.close();
    m_code.line("__syncthreads();");
    m_code.line("unsigned int largest = 0;");
    m_code.open("if (is_there)");
    const int open = openPlaces();
    openChannels();
    m_writer.compute({m_problem.shape.right});
    m_code.line("largest = max(largest, __float_as_uint({}) & 0x7fffffffu);",
                m_writer.value(m_problem.shape.right).text);
    closeAll(open + 2);
    m_writer.leave(outside);
    m_code.line("atomicMax(&found[line], largest);");
    m_code.line("__syncthreads();");
    m_code.line("largest = found[line];");
    m_code.line("const bool is_finite = largest < 0x7f800000u;");
    m_code.line("const int exponent = min(141 - static_cast<int>(largest >> 23), 126);  // 2^14 and below");
    m_code.line("const float scale = __int_as_float((exponent + 127) << 23);");
    m_code.open("if (start == 0)");
    m_code.line("{}[{}column] = is_finite ? -exponent : kNotFinite;", exponents,
                isBatched() ? fmt::format("batch * {} + ", m_weights.lines) : "");
    m_code.close();
    m_code.line("is_there = is_there && is_finite;");
  }

  // Where a piece lies is what decodes places of the window and channels as one number.
  void layOut(const std::string& planes) {
    const KernelWriter::Scope outside = m_writer.scope();
    const int open = openPlaces();
    std::string place;
    int count = 1;
    for (const std::size_t window : windowsOf(m_problem)) {
      place = place.empty() ? fmt::format("place{}", count)
                            : fmt::format("({} * {} + place{})", place, m_problem.region.axes[window].extent, count);
      ++count;
    }
    m_code.line("Vec<{0}, 8> halves{{}};", storage());
    m_code.open("if (is_there)");
    openChannels();
    m_writer.compute({m_problem.shape.right});
    const std::string value = operand(m_writer.value(m_problem.shape.right), Expression::Term);
    const bool isHalf = m_weights.format.type == domain::ScalarType::Float16;
    m_code.line("halves[c] = {}({}{});", isHalf ? "toHalf" : "toBFloat16", value,
                m_weights.format.isScaled ? " * scale" : "");
    closeAll(2);
    const std::string batch = isBatched() ? fmt::format("batch * {} + ", m_weights.depth / 8) : std::string();
    m_code.line("const long long at = {}{}piece;", batch,
                place.empty() ? "" : fmt::format("{} * {} + ", place, pieces()));
    m_code.line("store<{}, 8>(&{}[(at * {} + column) * 8], halves);", storage(), planes, m_weights.lines);
    closeAll(open);
    m_writer.leave(outside);
  }

  const HaloProblem& m_problem;
  const HaloWeights& m_weights;
  KernelWriter& m_writer;
  Code& m_code;
};

}  // namespace

HaloWeights::HaloWeights(const HaloProblem& problem, const HaloTiles& tiles)
    : format(partFormat(tiles.mode, problem.input().dtype)),
      lines(roundUp(problem.shape.columnCount, std::max(tiles.columns, kMostLinesOfPass))),
      depth(problem.shape.depthCount),
      batch(problem.shape.batchCount),
      pieces(problem.paddedChannels() / 8) {}

std::int64_t HaloWeights::linesOfBlock() const {
  std::int64_t count = kMostLinesOfPass;
  while (count > 1 && kThreadsOfPass / count < pieces) {
    count /= 2;
  }
  return count;
}

std::vector<domain::TensorType> HaloWeights::scratch() const {
  std::vector<domain::TensorType> buffers{domain::contiguousTensor(format.type, {elements()})};
  if (format.isScaled) {
    buffers.push_back(domain::contiguousTensor(domain::ScalarType::Int32, {batch * lines}));
  }
  return buffers;
}

domain::KernelStep HaloWeights::step(const std::string& entry) const {
  domain::KernelStep step;
  step.entry = entry;
  step.grid.x = static_cast<std::uint32_t>(batch * lines / linesOfBlock());
  step.block.x = static_cast<std::uint32_t>(kThreadsOfPass);
  return step;
}

void HaloWeights::write(const HaloProblem& problem, KernelWriter& writer, const std::string& entry,
                        const std::string& planes, const std::string& exponents) const {
  WeightsText(problem, *this, writer).write(entry, planes, exponents);
}

}  // namespace swage::synth
