// SPDX-License-Identifier: Apache-2.0
// The pass that lays out the weights of a convolution by wgmma, as text. A block takes a few channels of the result:
// its threads read the weights of each in the order of memory and keep them in shared memory, from where they go out as
// 8 channels of the input side by side.
#include <algorithm>

#include "core/synth/sizes.h"
#include "core/synth/strategies/conv_wgmma.h"

namespace swage::synth {
namespace {

constexpr std::int64_t kThreadsOfPass = 256;
constexpr std::int64_t kWarp = 32;
constexpr std::int64_t kWeightsOfThread = 16;  // where a line may have more threads
constexpr std::int64_t kManyBlocks = 132;      // that keep a device busy
constexpr std::int64_t kLineMultiple = 64;     // lines are padded to whole blocks of the pass, too

class WeightsText {
 public:
  WeightsText(const HaloProblem& problem, const HaloWeights& weights, KernelWriter& writer)
      : m_problem(problem), m_weights(weights), m_writer(writer), m_code(writer.code()) {}

  void write(const std::string& entry, const std::string& planes, const std::string& exponents) {
    const KernelWriter::Scope outside = m_writer.scope();
    const std::set<std::size_t> buffers = m_writer.buffersOf(m_problem.shape.right);
    const bool isScaled = m_weights.format.isScaled;
    m_code.comment(isScaled ? fmt::format("The weights as halves, x * 2^exponent{}, where the exponent brings the "
                                          "largest magnitude of each channel of the result to 2^14. A channel with an "
                                          "infinity or NaN becomes zeros.",
                                          isExact() ? " = high + low" : "")
                            : "The weights, 8 channels of the input side by side.");
    m_code.open("extern \"C\" __global__ void __launch_bounds__({}) {}({}, {}* __restrict__ {}{})", kThreadsOfPass,
                entry, m_writer.parameters({buffers.begin(), buffers.end()}), storage(), planes,
                isScaled ? fmt::format(", int* __restrict__ {}", exponents) : "");
    openLine();
    readLine();
    if (isScaled) {
      findScale(exponents);
    } else {
      m_code.line("__syncthreads();");
    }
    layOut(planes);
    m_code.close();
    m_code.blank();
    m_writer.leave(outside);
  }

 private:
  [[nodiscard]] std::string_view storage() const { return m_writer.dialect().storageName(m_weights.format.type); }
  [[nodiscard]] bool isBatched() const { return m_problem.shape.batchCount > 1; }
  [[nodiscard]] bool isExact() const { return m_weights.format.count > 1; }
  [[nodiscard]] std::int64_t places() const { return positions(m_problem.region, m_problem.windows()); }

  void openLine() {
    const std::int64_t blocks = m_weights.lines / m_weights.linesOfBlock();
    m_code.line("extern __shared__ __align__(128) unsigned char shared[];");
    m_code.line("float* const values = reinterpret_cast<float*>(shared);  // [line][channel of the input][place]");
    if (isBatched()) {
      m_code.line("const int batch = blockIdx.x / {};", blocks);
      m_writer.decode("batch", m_problem.shape.batch);
    }
    m_code.line("const int line = threadIdx.x / {};", m_weights.threadsOfLine());
    m_code.line("const int first = blockIdx.x{} * {};  // line of the block",
                isBatched() ? fmt::format(" % {}", blocks) : "", m_weights.linesOfBlock());
    m_code.line("const int column = first + line;");
    m_code.line("const int start = threadIdx.x % {};", m_weights.threadsOfLine());
  }

  // Threads side by side read neighbours. Behind the last channel of the result there are zeros.
  void readLine() {
    const KernelWriter::Scope outside = m_writer.scope();
    m_writer.decode("column", m_problem.shape.columns);
    const bool isScaled = m_weights.format.isScaled;
    if (isScaled) {
      m_code.line("unsigned int largest = 0;  // the bits of the largest magnitude, infinity and NaN above all");
    }
    std::vector<std::size_t> axes{m_problem.channel};
    if (m_problem.twin) {
      axes.insert(axes.begin(), *m_problem.twin);
    }
    const std::vector<std::size_t> windows = m_problem.windows();
    axes.insert(axes.end(), windows.begin(), windows.end());
    m_code.pragma(fmt::format("#pragma unroll {}", std::min<std::int64_t>(m_weights.ofThread(), 8)));
    m_code.open("for (int k = start; k < {}; k += {})", m_weights.depth, m_weights.threadsOfLine());
    m_writer.decode("k", axes);
    const bool isPadded = m_problem.shape.columnCount < m_weights.lines;
    m_code.line("float of = 0.0f;");
    if (isPadded) {
      m_code.open("if (column < {})", m_problem.shape.columnCount);
    }
    m_writer.compute({m_problem.shape.right});
    m_code.line("of = {};", m_writer.value(m_problem.shape.right).text);
    if (isPadded) {
      m_code.close();
    }
    m_code.line("values[line * {} + k] = of;", m_weights.depth);
    if (isScaled) {
      m_code.line("largest = max(largest, __float_as_uint(of) & 0x7fffffffu);");
    }
    m_code.close();
    m_writer.leave(outside);
  }

  // Leaves `largest` of each line in shared memory.
  void findScale(const std::string& exponents) {
    const std::int64_t warps = m_weights.threadsOfLine() / kWarp;
    m_code.line("__shared__ unsigned int found[{}];  // by each warp", kThreadsOfPass / kWarp);
    m_code.line("largest = __reduce_max_sync(0xffffffffu, largest);");
    m_code.open("if (threadIdx.x % 32 == 0)");
    m_code.line("found[threadIdx.x / 32] = largest;");
    m_code.close();
    m_code.line("__syncthreads();");
    m_code.open("const auto largest_of = [&](int of)");
    m_code.line("unsigned int most = found[of * {}];", warps);
    if (warps > 1) {
      m_code.open("for (int i = 1; i < {}; ++i)", warps);
      m_code.line("most = max(most, found[of * {} + i]);", warps);
      m_code.close();
    }
    m_code.line("return most;");
    m_code.close(";");
    m_code.open("const auto exponent_of = [](unsigned int most)");
    m_code.line("return min(141 - static_cast<int>(most >> 23), 126);  // 2^14 and below");
    m_code.close(";");
    m_code.open("if (start == 0)");
    m_code.line("largest = largest_of(line);");
    m_code.line("{}[{}column] = largest < 0x7f800000u ? -exponent_of(largest) : kNotFinite;", exponents,
                isBatched() ? fmt::format("batch * {} + ", m_weights.lines) : "");
    m_code.close();
  }

  // Lines side by side are neighbours in the plane.
  void layOut(const std::string& planes) {
    const std::int64_t lines = m_weights.linesOfBlock();
    m_code.open("for (int i = threadIdx.x; i < {}; i += {})", lines * m_weights.depth / 8, kThreadsOfPass);
    m_code.line("const int of = {};", lines == 1 ? "0" : fmt::format("i % {}", lines));
    m_code.line("const int place = i / {} % {};", lines, places());
    m_code.line("const int piece = i / {};", lines * places());
    if (m_weights.format.isScaled) {
      m_code.line("const unsigned int most = largest_of(of);");
      m_code.line("const float scale = most < 0x7f800000u ? __int_as_float((exponent_of(most) + 127) << 23) : 0.0f;");
    }
    m_code.line("const float* const from = values + of * {} + piece * {} + place;", m_weights.depth, 8 * places());
    m_code.line("Vec<{0}, 8> halves{1};", storage(), isExact() ? ", low" : "");
    m_code.pragma("#pragma unroll");
    m_code.open("for (int c = 0; c < 8; ++c)");
    const bool isHalf = m_weights.format.type == domain::ScalarType::Float16;
    const std::string_view convert = isHalf ? "toHalf" : "toBFloat16";
    const std::string value = fmt::format("from[c * {}]", places());
    m_code.line("const float of_place = {};",
                m_weights.format.isScaled ? fmt::format("scale == 0.0f ? 0.0f : {} * scale", value) : value);
    m_code.line("halves[c] = {}({});", convert, m_weights.format.isTiesAway ? "roundTiesAway(of_place)" : "of_place");
    if (isExact()) {
      m_code.line("low[c] = {}(of_place - toFloat(halves[c]));", convert);
    }
    m_code.close();
    m_code.line("const long long at = {}place * {} + piece;",
                isBatched() ? fmt::format("batch * {}LL + ", m_weights.depth / 8) : "", m_weights.pieces);
    const std::string row = rowOf();
    m_code.line("store<{}, 8>(&{}[(at * {} + {}) * 8], halves);", storage(), planes, m_weights.lines, row);
    if (isExact()) {
      m_code.line("store<{}, 8>(&{}[(at * {} + {}) * 8 + {}LL], low);", storage(), planes, m_weights.lines, row,
                  m_weights.elements());
    }
    m_code.close();
  }

  // Of line `first + of`, in the tile that instructions take: each warp has some of the first lines.
  std::string rowOf() {
    constexpr std::int64_t kRows = HaloTiles::kRowsOfWarp;
    const std::int64_t ofWarp = m_weights.ofWarp;
    if (ofWarp == kRows) {
      return "first + of";
    }
    m_code.line("const int more = first + of - {};  // lines behind those that warps have", 4 * ofWarp);
    m_code.line(
        "const int row = more < 0 ? (first + of) / {0} * {1} + (first + of) % {0} : more / {2} * {1} + {0} + more % "
        "{2};",
        ofWarp, kRows, kRows - ofWarp);
    return "row";
  }

  const HaloProblem& m_problem;
  const HaloWeights& m_weights;
  KernelWriter& m_writer;
  Code& m_code;
};

}  // namespace

HaloWeights::HaloWeights(const HaloProblem& problem, const HaloTiles& tiles)
    : format(partFormat(tiles.mode, problem.input().dtype)),
      lines(roundUp(problem.shape.columnCount, std::max(tiles.columns, kLineMultiple))),
      depth(problem.shape.depthCount),
      batch(problem.shape.batchCount),
      pieces(problem.paddedChannels() / 8),
      ofWarp(tiles.channelsOfWarp(problem)) {}

std::int64_t HaloWeights::threadsOfLine() const {
  std::int64_t threads = kWarp;
  while (threads < kThreadsOfPass &&
         (threads * kWeightsOfThread < depth || batch * lines * threads < kManyBlocks * kThreadsOfPass)) {
    threads *= 2;
  }
  return threads;
}

std::int64_t HaloWeights::linesOfBlock() const {
  return kThreadsOfPass / threadsOfLine();
}

std::int64_t HaloWeights::ofThread() const {
  return divideUp(depth, threadsOfLine());
}

std::vector<domain::TensorType> HaloWeights::scratch() const {
  std::vector<domain::TensorType> buffers{domain::contiguousTensor(format.type, {format.count * elements()})};
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
  step.dynamicSharedBytes = static_cast<std::uint32_t>(sharedBytes());
  return step;
}

void HaloWeights::write(const HaloProblem& problem, KernelWriter& writer, const std::string& entry,
                        const std::string& planes, const std::string& exponents) const {
  WeightsText(problem, *this, writer).write(entry, planes, exponents);
}

}  // namespace swage::synth
