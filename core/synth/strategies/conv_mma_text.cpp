// SPDX-License-Identifier: Apache-2.0
// The kernels of convolutions by mma.sync as text.
#include "core/synth/strategies/conv_mma.h"

#include <algorithm>
#include <cstdlib>

namespace swage::synth {
namespace {

class ConvText {
 public:
  // `instance` is of the problem's region.
  ConvText(const Instance& instance, const ConvProblem& problem)
      : m_region(problem.region()),
        m_shape(problem.shape()),
        m_tiles(instance),
        m_input(problem.input()),
        m_results(problem.results()),
        m_hasPhases(problem.hasPhases()),
        m_weights(convWeights(problem, m_tiles)),
        m_writer(instance, Dialect::of(domain::Language::CudaCpp), {"a",           "at",       "b",
                                                                    "batch",       "bits",     "block_largest",
                                                                    "c",           "column",   "columns",
                                                                    "columns_at",  "count",    "depth",
                                                                    "e",           "exponent", "first_column",
                                                                    "first_row",   "found",    "gather",
                                                                    "gathered",    "group",    "i",
                                                                    "is_finite",   "is_large", "is_odd",
                                                                    "is_settled",  "is_small", "j",
                                                                    "k",           "lane",     "largest",
                                                                    "lay_out",     "line",     "minor",
                                                                    "multiply",    "order",    "outside",
                                                                    "p",           "packed",   "pair",
                                                                    "part",        "piece",    "q",
                                                                    "r",           "recent",   "rest",
                                                                    "row",         "rows",     "rows_at",
                                                                    "scale",       "settle",   "shared",
                                                                    "source",      "stage",    "start",
                                                                    "step",        "steps",    "sum",
                                                                    "tap",         "taps",     "tiles",
                                                                    "to",          "total",    "unscale",
                                                                    "warp_column", "warp_row"}),
        m_code(m_writer.code()) {
    m_writer.numberApart();
    const Prim& right = m_region.prims[at(m_shape.right)];
    const std::string name = right.kind == Prim::Kind::Load ? m_writer.parameterOf(m_region.operands[at(right.operand)])
                                                            : std::string("weight");
    m_planes = m_writer.unique(name + "_parts");
    m_exponents = m_writer.unique(name + "_exponents");
    m_tilePlanes = m_writer.unique(name + "_tile");
    m_tileExponents = m_writer.unique(name + "_tile_exponents");
  }

  KernelText run(const Launch& launch) {
    m_code.comment(m_weights.describe());
    m_weights.write(m_writer, launch.step.entry, m_planes, m_exponents);
    writeConvolution(launch.more.front().entry);
    const std::set<std::size_t> read = m_writer.buffersOf(m_shape.right);
    KernelText text = m_writer.finish();
    text.arguments = {argumentsOf({read.begin(), read.end()}), argumentsOf(usedBuffers())};
    return text;
  }

 private:
  static std::size_t at(int index) { return static_cast<std::size_t>(index); }
  [[nodiscard]] bool isScaled() const { return m_tiles.isSplit(); }
  [[nodiscard]] bool isExact() const { return m_tiles.isExact(); }
  [[nodiscard]] std::int64_t paddedDepth() const { return convDepth(m_shape, m_tiles); }
  [[nodiscard]] std::int64_t steps() const { return paddedDepth() / m_tiles.depth; }
  [[nodiscard]] std::string_view storage() const { return m_writer.dialect().storageName(m_input.operand->dtype); }
  [[nodiscard]] std::string_view partStorage() const { return m_writer.dialect().storageName(m_weights.format().type); }

  [[nodiscard]] std::vector<LaunchArgument> argumentsOf(const std::vector<std::size_t>& buffers) const {
    std::vector<LaunchArgument> arguments;
    arguments.reserve(buffers.size() + m_weights.scratch().size());
    for (const std::size_t buffer : buffers) {
      arguments.push_back({LaunchArgument::Kind::Buffer, buffer});
    }
    for (std::size_t i = 0; i < m_weights.scratch().size(); ++i) {
      arguments.push_back({LaunchArgument::Kind::Scratch, i});
    }
    return arguments;
  }

  // Of the convolution: its input, what its results are computed from and stored in, and the weights themselves where
  // results may have to be added up anew.
  [[nodiscard]] std::vector<std::size_t> usedBuffers() const {
    std::set<std::size_t> used = m_writer.buffersOf(m_shape.left);
    for (const Store& store : m_region.groupStores) {
      used.merge(m_writer.buffersOf(store.prim));
    }
    if (isScaled()) {
      used.merge(m_writer.buffersOf(m_shape.right));
    }
    for (std::size_t i = 0; i < m_writer.buffers().size(); ++i) {
      if (m_writer.buffers()[i].output) {
        used.insert(i);
      }
    }
    return {used.begin(), used.end()};
  }

  void describe() {
    const std::string numbers = !isScaled() ? ""
                                : isExact()
                                    ? " Floats are high + low / 2048, both halves; of the four products that of the "
                                      "low ones is left out."
                                    : " Floats are rounded to halves, with as many bits of mantissa as TF32.";
    m_code.comment(fmt::format(
        "A convolution as a product on tensor cores: {} positions by {} channels, summed over {}{}.{} A block makes a "
        "tile of {} by {}, each warp {} by {} of it. While a step of {} of the sum is multiplied, the windows of the "
        "next are gathered into registers.",
        m_shape.rowCount, m_shape.columnCount, extentsText(m_region, m_shape.depth),
        m_shape.batchCount > 1 ? fmt::format(", for {} groups or phases", m_shape.batchCount) : "", numbers,
        m_tiles.rows, m_tiles.columns, m_tiles.warpRows, m_tiles.warpColumns, m_tiles.depth));
  }

  void writeConvolution(const std::string& entry) {
    describe();
    m_code.open("extern \"C\" __global__ void __launch_bounds__({}) {}({}, const {}* __restrict__ {}{})",
                m_tiles.threads(), entry, m_writer.parameters(usedBuffers()), partStorage(), m_planes,
                isScaled() ? fmt::format(", const int* __restrict__ {}", m_exponents) : "");
    m_code.line("extern __shared__ __align__(128) unsigned char shared[];");
    m_code.line("const unsigned int tiles = sharedAddress(shared);");
    m_code.line("Tap* const taps = reinterpret_cast<Tap*>(shared + {});", 2 * m_tiles.stageBytes());
    m_code.line("const int lane = threadIdx.x % 32;");
    m_code.line("const int warp_row = threadIdx.x / {} * {};", 32 * m_tiles.warpsAcross(), m_tiles.warpRows);
    m_code.line("const int warp_column = threadIdx.x / 32 % {} * {};", m_tiles.warpsAcross(), m_tiles.warpColumns);
    place();
    m_code.blank();
    writeTaps();
    m_code.blank();
    writePositions();
    m_code.blank();
    declareSums();
    m_code.blank();
    gather();
    m_code.blank();
    layOut();
    m_code.blank();
    writeAddresses();
    if (isExact()) {
      m_code.blank();
      settle();
    }
    m_code.blank();
    multiply();
    m_code.blank();
    loop();
    m_code.blank();
    finish();
    m_code.close();
  }

  // Blocks side by side have the same positions, in all channels and phases; what they share is in the second-level
  // cache.
  void place() {
    const std::int64_t across = (m_shape.columnCount + m_tiles.columns - 1) / m_tiles.columns;
    m_code.line("const int first_column = blockIdx.x % {} * {};", across, m_tiles.columns);
    m_code.line("const int first_row = blockIdx.x / {} * {};", across * m_shape.batchCount, m_tiles.rows);
    std::string planes;
    std::string exponents;
    if (m_shape.batchCount > 1) {
      m_code.line("const int batch = blockIdx.x / {} % {};", across, m_shape.batchCount);
      m_writer.decode("batch", m_shape.batch);
      planes = fmt::format("batch * {}LL + ", m_weights.lineExtent() * m_weights.depthExtent());
      exponents = fmt::format("batch * {} + ", m_weights.lineExtent());
    }
    m_code.line("const {}* const {} = {} + {}first_column * {}LL;", partStorage(), m_tilePlanes, m_planes, planes,
                m_weights.depthExtent());
    if (isScaled()) {
      m_code.line("const int* const {} = {} + {}first_column;", m_tileExponents, m_exponents, exponents);
    }
  }

  [[nodiscard]] std::string sumOf(const std::vector<std::int64_t>& factors, const std::vector<std::size_t>& axes,
                                  std::int64_t offset, bool isWide = false) const {
    return coordinateSum(m_writer, factors, axes, offset, isWide);
  }

  // Of an element of the sum: that the phase has it.
  [[nodiscard]] std::string isOfPhase() const {
    const Operand& weights = m_region.operands[at(m_region.prims[at(m_shape.right)].operand)];
    std::vector<std::size_t> axes = m_shape.depth;
    axes.insert(axes.end(), m_shape.batch.begin(), m_shape.batch.end());
    const std::string more = insideAll(m_writer, weights.bounds, axes);
    return fmt::format("depth < {}{}{}", m_shape.depthCount, more.empty() ? "" : " && ", more);
  }

  void writeTaps() {
    if (m_hasPhases) {
      m_code.comment("Steps that this phase has something of, one after the other; at the end how many.");
      m_code.line("int* const order = reinterpret_cast<int*>(taps + {});", paddedDepth());
      m_code.open("for (int i = threadIdx.x; i < {}; i += {})", steps(), m_tiles.threads());
      m_code.line("order[i] = 0;");
      m_code.close();
      m_code.line("__syncthreads();");
    }
    m_code.comment(
        "For each element of the sum: where it lies, from the first of the window on, and what must not lie outside.");
    m_code.open("for (int depth = threadIdx.x; depth < {}; depth += {})", paddedDepth(), m_tiles.threads());
    const KernelWriter::Scope outside = m_writer.scope();
    m_writer.decode("depth", m_shape.depth);
    std::string bits = fmt::format("0x{:x}u", ConvInput::kEveryTap);
    for (const ConvEdge& edge : m_input.edges) {
      bits += edge.window ? fmt::format(" | 1u << ({} + {})", edge.firstBit, m_writer.coordinate(*edge.window))
                          : fmt::format(" | 0x{:x}u", 1U << static_cast<unsigned>(edge.firstBit));
    }
    std::string offset = sumOf(m_input.factors, m_shape.depth, 0);
    if (m_writer.index() != "int") {
      offset = fmt::format("static_cast<int>({})", offset);
    }
    if (paddedDepth() == m_shape.depthCount) {
      m_code.line("taps[depth] = {{{}, {}}};", offset, bits);
    } else {
      m_code.line("taps[depth] = depth < {} ? Tap{{{}, {}}} : Tap{{0, 0x{:x}u}};", m_shape.depthCount, offset, bits,
                  ConvInput::kNoTap);
    }
    if (m_hasPhases) {
      m_code.open("if ({})", isOfPhase());
      m_code.line("order[depth / {}] = 1;", m_tiles.depth);
      m_code.close();
    }
    m_code.close();
    m_writer.leave(outside);
    if (m_hasPhases) {
      gatherSteps();
    }
  }

  void gatherSteps() {
    m_code.line("__syncthreads();");
    m_code.open("if (threadIdx.x == 0)");
    m_code.line("int count = 0;");
    m_code.open("for (int i = 0; i < {}; ++i)", steps());
    m_code.open("if (order[i] != 0)");
    m_code.line("order[count++] = i;");
    m_code.close();
    m_code.close();
    m_code.line("order[{}] = count;", steps());
    m_code.close();
  }

  void writePositions() {
    const std::int64_t count = m_tiles.positions();
    m_code.comment(fmt::format(
        "The position{} whose windows this thread gathers: where the first element lies, and what lies outside.",
        count > 1 ? "s" : ""));
    m_code.line("const {}* source[{}];", storage(), count);
    m_code.line("unsigned int outside[{}];", count);
    m_code.pragma("#pragma unroll");
    m_code.open("for (int p = 0; p < {}; ++p)", count);
    const KernelWriter::Scope scope = m_writer.scope();
    m_code.line("const int row = first_row + threadIdx.x{}{};",
                m_tiles.threads() > m_tiles.rows ? fmt::format(" % {}", m_tiles.rows) : "",
                count > 1 ? fmt::format(" + p * {}", m_tiles.threads()) : "");
    m_writer.decode("row", m_shape.rows);
    const bool hasTail = m_shape.rowCount % m_tiles.rows != 0;
    m_code.line("unsigned int bits = {}0x{:x}u;",
                hasTail
                    ? fmt::format("row >= {} ? 0x{:x}u : ", m_shape.rowCount, ConvInput::kNoTap | ConvInput::kEveryTap)
                    : "",
                ConvInput::kNoTap);
    for (const ConvEdge& edge : m_input.edges) {
      markOutside(edge);
    }
    m_code.line("outside[p] = bits;");
    std::vector<std::size_t> axes = m_shape.batch;
    axes.insert(axes.end(), m_shape.rows.begin(), m_shape.rows.end());
    m_code.line("source[p] = {} + ({});", m_writer.parameterOf(*m_input.operand),
                sumOf(m_input.factors, axes, m_input.offset, m_writer.index() != "int"));
    m_code.close();
    m_writer.leave(scope);
  }

  void markOutside(const ConvEdge& edge) {
    std::vector<std::size_t> axes = m_shape.batch;
    axes.insert(axes.end(), m_shape.rows.begin(), m_shape.rows.end());
    const std::string first = sumOf(edge.bound->factors, axes, edge.bound->offset);
    if (edge.places == 1) {
      m_code.line("bits |= inside({}, {}) ? 0u : 0x{:x}u;", first, edge.bound->extent,
                  1U << static_cast<unsigned>(edge.firstBit));
      return;
    }
    m_code.pragma("#pragma unroll");
    m_code.open("for (int j = 0; j < {}; ++j)", edge.places);
    const std::int64_t step = edge.bound->factors[*edge.window];
    m_code.line("bits |= inside({} + j{}, {}) ? 0u : 1u << ({} + j);", first,
                step == 1 ? "" : fmt::format(" * {}", step), edge.bound->extent, edge.firstBit);
    m_code.close();
  }

  void declareSums() {
    const std::string extents = fmt::format("[{}][{}][4];", m_tiles.warpRows / 16, m_tiles.warpColumns / 8);
    m_code.line("float sum{}  // [16 positions][8 channels][of a thread]", extents);
    if (isExact()) {
      m_code.line("float recent{}  // of the last {} of the sum", extents, m_tiles.promote);
      m_code.line("float minor{}  // products with low parts", extents);
    }
    m_code.line("{} gathered[{}][{}][8];", storage(), m_tiles.positions(), m_tiles.pieces());
    if (m_tiles.pieceGroups() > 1) {
      m_code.line("const int group = threadIdx.x / {};", m_tiles.rows);
    }
    if (isScaled()) {
      m_code.line("unsigned int largest = 0;  // magnitude that this thread has seen");
      m_code.line("float scale = 1.0f;");
      m_code.line("float unscale = 1.0f;  // its inverse");
    }
  }

  [[nodiscard]] std::string piece() const {
    return m_tiles.pieceGroups() > 1 ? fmt::format("group + q * {}", m_tiles.pieceGroups()) : "q";
  }

  void openPieces() {
    m_code.pragma("#pragma unroll");
    m_code.open("for (int p = 0; p < {}; ++p)", m_tiles.positions());
    m_code.pragma("#pragma unroll");
    m_code.open("for (int q = 0; q < {}; ++q)", m_tiles.pieces());
  }

  void gather() {
    const std::int64_t depth = m_tiles.depth;
    const std::int64_t pieces = depth / 8;
    m_code.comment("Reads the windows of a step, and copies its weights into their stage.");
    m_code.open("const auto gather = [&](int step)");
    const std::string_view from = m_hasPhases ? "order[step]" : "step";
    m_code.pragma("#pragma unroll");
    m_code.open("for (int q = 0; q < {}; ++q)", m_tiles.pieces());
    m_code.line("const Tap* const tap = taps + {} * {} + ({}) * 8;", from, depth, piece());
    m_code.pragma("#pragma unroll");
    m_code.open("for (int e = 0; e < 8; e += 2)");
    m_code.line("const TapPair pair = *reinterpret_cast<const TapPair*>(tap + e);");
    m_code.pragma("#pragma unroll");
    m_code.open("for (int p = 0; p < {}; ++p)", m_tiles.positions());
    for (const auto& [place, name] : {std::pair("e", "first"), std::pair("e + 1", "second")}) {
      m_code.line("gathered[p][q][{0}] = (pair.{1}.needs & outside[p]) == 0 ? source[p][pair.{1}.offset] : {2};", place,
                  name, isScaled() ? "0.0f" : fmt::format("{}{{}}", storage()));
    }
    m_code.close();
    m_code.close();
    m_code.close();
    m_code.line("const unsigned int stage = tiles + step % 2 * {} + {};", m_tiles.stageBytes(),
                m_tiles.parts() * m_tiles.leftBytes());
    m_code.pragma("#pragma unroll");
    m_code.open("for (int i = threadIdx.x; i < {}; i += {})", m_tiles.parts() * m_tiles.columns * pieces,
                m_tiles.threads());
    m_code.line("const int line = i / {};", pieces);
    m_code.line("const int piece = i % {};", pieces);
    const std::string plane =
        isExact() ? fmt::format("line / {} * {}LL + ", m_tiles.columns, m_weights.planeElements()) : "";
    m_code.line("copyAsync(stage + line * {} + (piece ^ {}) * 16, &{}[{}{} * {} + {} * {} + piece * 8]);",
                m_tiles.rowBytes(), exchange(), m_tilePlanes, plane,
                isExact() ? fmt::format("line % {}", m_tiles.columns) : "line", m_weights.depthExtent(), from, depth);
    m_code.close();
    m_code.line("commitCopies();");
    m_code.close(";");
  }

  // With which number of a piece a line exchanges it, so that eight that are read together lie in different banks.
  [[nodiscard]] std::string exchange() const { return m_tiles.rowBytes() == 64 ? "(line / 2 % 4)" : "(line % 8)"; }

  void layOut() {
    m_code.comment(isScaled() ? "Shortens what was gathered for a step, and lays it out in its stage: for each "
                                "position 8 of the sum in 16 bytes."
                              : "Lays out what was gathered for a step in its stage: for each position 8 of the sum in "
                                "16 bytes.");
    m_code.open("const auto lay_out = [&](int step)");
    if (isScaled()) {
      openPieces();
      m_code.pragma("#pragma unroll");
      m_code.open("for (int e = 0; e < 8; ++e)");
      m_code.line("largest = max(largest, magnitude(gathered[p][q][e]));");
      closeAll(3);
      m_code.open("if (scale != 1.0f)");
      openPieces();
      m_code.pragma("#pragma unroll");
      m_code.open("for (int e = 0; e < 8; ++e)");
      m_code.line("gathered[p][q][e] *= scale;");
      closeAll(4);
    }
    openPieces();
    m_code.line("const int line = threadIdx.x{}{};",
                m_tiles.threads() > m_tiles.rows ? fmt::format(" % {}", m_tiles.rows) : "",
                m_tiles.positions() > 1 ? fmt::format(" + p * {}", m_tiles.threads()) : "");
    m_code.line("const int piece = {};", piece());
    m_code.line("unsigned int packed[{}][4];", m_tiles.parts());
    m_code.pragma("#pragma unroll");
    m_code.open("for (int e = 0; e < 4; ++e)");
    if (isScaled()) {
      m_code.line("const float a = gathered[p][q][e * 2];");
      m_code.line("const float b = gathered[p][q][e * 2 + 1];");
      m_code.line("packed[0][e] = {}(a, b);", packing(m_tiles.mode));
      if (isExact()) {
        m_code.line("packed[1][e] = packRest(packed[0][e], a, b);");
      }
    } else {
      m_code.line(
          "packed[0][e] = gathered[p][q][e * 2].bits | "
          "static_cast<unsigned int>(gathered[p][q][e * 2 + 1].bits) << 16;");
    }
    m_code.close();
    for (std::int64_t part = 0; part < m_tiles.parts(); ++part) {
      m_code.line("storePiece(tiles + step % 2 * {} + {}line * {} + (piece ^ {}) * 16, packed[{}]);",
                  m_tiles.stageBytes(), part > 0 ? fmt::format("{} + ", part * m_tiles.leftBytes()) : "",
                  m_tiles.rowBytes(), exchange(), part);
    }
    m_code.close();
    m_code.close();
    m_code.close(";");
  }

  void writeAddresses() {
    m_code.comment(
        "The row that a lane gives to ldmatrix, of 16 positions or channels by 16 of the sum. Of channels both halves "
        "of "
        "the sum come one after the other, as they are multiplied.");
    for (const bool isLeft : {true, false}) {
      m_code.open("const auto {}_at = [&](unsigned int tile, int first, int depth)", isLeft ? "rows" : "columns");
      m_code.line("const int line = first + lane {};", isLeft ? "% 16" : "/ 16 * 8 + lane % 8");
      m_code.line("const int piece = depth / 8 + lane {};", isLeft ? "/ 16" : "/ 8 % 2");
      m_code.line("return tile + line * {} + (piece ^ {}) * 16;", m_tiles.rowBytes(), exchange());
      m_code.close(";");
    }
  }

  void openSums() {
    m_code.pragma("#pragma unroll");
    m_code.open("for (int r = 0; r < {}; ++r)", m_tiles.warpRows / 16);
    m_code.pragma("#pragma unroll");
    m_code.open("for (int c = 0; c < {}; ++c)", m_tiles.warpColumns / 8);
    m_code.pragma("#pragma unroll");
    m_code.open("for (int i = 0; i < 4; ++i)");
  }

  void closeAll(int count) {
    for (int i = 0; i < count; ++i) {
      m_code.close();
    }
  }

  void settle() {
    m_code.comment("Takes what tensor cores have added up, without its low bits, into sums in float.");
    m_code.open("const auto settle = [&]()");
    openSums();
    m_code.line("sum[r][c][i] += recent[r][c][i] + minor[r][c][i] * {}f;",
                1.0 / static_cast<double>(std::int64_t{1} << m_weights.format().shift));
    m_code.line("recent[r][c][i] = minor[r][c][i] = 0.0f;");
    closeAll(3);
    m_code.close(";");
  }

  void multiply() {
    const std::int64_t parts = m_tiles.parts();
    m_code.comment("Takes the tiles of a step from shared memory, 16 of the sum at a time, and multiplies them.");
    m_code.open("const auto multiply = [&](int step)");
    m_code.line("const unsigned int stage = tiles + step % 2 * {};", m_tiles.stageBytes());
    m_code.pragma("#pragma unroll");
    m_code.open("for (int k = 0; k < {}; k += 16)", m_tiles.depth);
    m_code.line("unsigned int rows[{}][{}][4];", parts, m_tiles.warpRows / 16);
    m_code.line("unsigned int columns[{}][{}][4];", parts, m_tiles.warpColumns / 16);
    m_code.pragma("#pragma unroll");
    m_code.open("for (int part = 0; part < {}; ++part)", parts);
    loadSide("rows", "r", "warp_row", m_tiles.warpRows, 0, m_tiles.leftBytes());
    loadSide("columns", "c", "warp_column", m_tiles.warpColumns, parts * m_tiles.leftBytes(), m_tiles.rightBytes());
    m_code.close();
    m_code.pragma("#pragma unroll");
    m_code.open("for (int r = 0; r < {}; ++r)", m_tiles.warpRows / 16);
    m_code.pragma("#pragma unroll");
    m_code.open("for (int c = 0; c < {}; ++c)", m_tiles.warpColumns / 8);
    const std::string function =
        m_weights.format().type == domain::ScalarType::Float16 ? "multiplyHalf" : "multiplyBFloat16";
    for (const auto& [left, right] : partPairs(m_tiles.mode)) {
      const std::string target = left + right > 0 ? "minor" : isExact() ? "recent" : "sum";
      m_code.line("{0}({1}[r][c], rows[{2}][r], columns[{3}][c / 2][c % 2 * 2], columns[{3}][c / 2][c % 2 * 2 + 1]);",
                  function, target, left, right);
    }
    closeAll(3);
    m_code.close(";");
  }

  void loadSide(std::string_view side, std::string_view index, std::string_view warp, std::int64_t extent,
                std::int64_t offset, std::int64_t partBytes) {
    m_code.pragma("#pragma unroll");
    m_code.open("for (int {0} = 0; {0} < {1}; ++{0})", index, extent / 16);
    m_code.line("loadMatrices({0}[part][{1}], {0}_at(stage + {2}part * {3}, {4} + {1} * 16, k));", side, index,
                offset > 0 ? fmt::format("{} + ", offset) : "", partBytes, warp);
    m_code.close();
  }

  void clearSums() {
    openSums();
    m_code.line("{}sum[r][c][i] = 0.0f;", isExact() ? "recent[r][c][i] = minor[r][c][i] = " : "");
    closeAll(3);
  }

  [[nodiscard]] std::int64_t stepsOfSettling() const { return isExact() ? m_tiles.promote / m_tiles.depth : 0; }

  void settleSometimes() {
    const std::int64_t every = stepsOfSettling();
    if (every > 1) {
      m_code.open("if (step % {0} == {1})", every, every - 1);
      m_code.line("settle();");
      m_code.close();
    } else if (every == 1) {
      m_code.line("settle();");
    }
  }

  // All of the sum; with a scale perhaps a second time.
  void loop() {
    m_code.line("__syncthreads();  // the table is there");
    if (m_hasPhases) {
      m_code.line("const int steps = order[{}];", this->steps());
    }
    if (isScaled()) {
      m_code.open("for (bool is_settled = false; !is_settled;)");
    }
    clearSums();
    const std::string steps = m_hasPhases ? "steps" : fmt::format("{}", this->steps());
    const std::string next = m_hasPhases ? "step + 1 < steps" : fmt::format("step < {}", this->steps() - 1);
    if (m_hasPhases) {
      m_code.open("if (steps > 0)");
    }
    m_code.line("gather(0);");
    m_code.line("lay_out(0);");
    if (m_hasPhases) {
      m_code.close();
    }
    m_code.open("for (int step = 0; step < {}; ++step)", steps);
    m_code.comment("Here the tiles of this step are there, and every warp is done with those of the step before.");
    m_code.line("waitForCopies<0>();");
    m_code.line("__syncthreads();");
    m_code.open("if ({})", next);
    m_code.line("gather(step + 1);");
    m_code.close();
    m_code.line("multiply(step);");
    m_code.open("if ({})", next);
    m_code.line("lay_out(step + 1);");
    m_code.close();
    settleSometimes();
    m_code.close();
    const std::int64_t every = stepsOfSettling();
    if (every > 1 && (m_hasPhases || this->steps() % every != 0)) {
      m_code.line("settle();");
    }
    if (isScaled()) {
      chooseScale();
      m_code.close();
    }
  }

  void chooseScale() {
    m_code.comment(
        "Halves hold what is at most 2^15 well, if the largest is at least 2^-2. Else all is done again with a scale "
        "that brings it near 2^14. Every thread comes to the same answer.");
    m_code.line("const bool is_large = __syncthreads_or(largest >= 0x8f000000u);");
    m_code.line(
        "const bool is_small = !__syncthreads_or(largest >= 0x7e000000u) && __syncthreads_or(largest > 0x01000000u);");
    m_code.line("is_settled = scale != 1.0f || !(is_large || is_small);");
    m_code.open("if (!is_settled)");
    m_code.line("__shared__ int block_largest;");
    m_code.line("block_largest = 0;");
    m_code.line("__syncthreads();");
    m_code.line("atomicMax(&block_largest, static_cast<int>(largest >> 1));");
    m_code.line("__syncthreads();");
    m_code.line("const int exponent = min(142 - (block_largest >> 23), 126);");
    m_code.line("scale = __int_as_float((127 + exponent) << 23);");
    m_code.line("unscale = __int_as_float((127 - exponent) << 23);");
    m_code.close();
  }

  [[nodiscard]] std::string inside(std::string_view name, std::int64_t count, std::int64_t tile) const {
    return count % tile == 0 ? "" : fmt::format("{} < {}", name, count);
  }

  // Whether what follows is for a result, once `row` is decoded: phases may have fewer than others.
  [[nodiscard]] std::string isResult() const {
    std::vector<std::size_t> axes = m_shape.batch;
    axes.insert(axes.end(), m_shape.rows.begin(), m_shape.rows.end());
    return insideAll(m_writer, m_results, axes);
  }

  bool openIf(const std::string& condition) {
    if (!condition.empty()) {
      m_code.open("if ({})", condition);
    }
    return !condition.empty();
  }

  // What follows the sum, and its results, at `row` and `column`.
  void storeResult(const std::string& sum) {
    for (std::size_t prim = 0; prim < m_region.prims.size(); ++prim) {
      if (m_region.prims[prim].kind == Prim::Kind::Folded) {
        m_writer.bind(static_cast<int>(prim), {sum});
      }
    }
    m_writer.compute(storedPrims(m_region.groupStores));
    m_writer.store(m_region.groupStores);
  }

  void finish() {
    const KernelWriter::Scope outside = m_writer.scope();
    if (isScaled()) {
      m_code.line("bool is_odd = false;  // something that is no number has been seen");
    }
    m_code.pragma("#pragma unroll");
    m_code.open("for (int r = 0; r < {}; ++r)", m_tiles.warpRows / 8);
    m_code.line("const int row = first_row + warp_row + r * 8 + lane / 4;");
    const bool hasRows = openIf(inside("row", m_shape.rowCount, m_tiles.rows));
    m_writer.decode("row", m_shape.rows);
    const bool hasPhases = openIf(isResult());
    m_code.pragma("#pragma unroll");
    m_code.open("for (int c = 0; c < {}; ++c)", m_tiles.warpColumns / 4);
    m_code.line("const int column = first_column + warp_column + c / 2 * 8 + lane % 4 * 2 + c % 2;");
    const bool hasColumns = openIf(inside("column", m_shape.columnCount, m_tiles.columns));
    m_writer.decode("column", m_shape.columns);
    const std::string sum = "sum[r / 2][c / 2][r % 2 * 2 + c % 2]";
    if (isScaled()) {
      m_code.line("const int e = {}[column - first_column];", m_tileExponents);
      m_code.line("const float total = {} * __int_as_float((e + 127) << 23) * unscale;", sum);
      m_code.line("is_odd |= e == kNotFinite || !(fabsf(total) < kInfinity);");
    }
    storeResult(isScaled() ? "total" : sum);
    closeAll(2 + (hasRows ? 1 : 0) + (hasPhases ? 1 : 0) + (hasColumns ? 1 : 0));
    m_writer.leave(outside);
    if (isScaled()) {
      m_code.blank();
      finishOdd();
    }
  }

  void finishOdd() {
    m_code.comment("A tile that infinities or NaN have come into is added up anew, as floats are.");
    m_code.line("is_odd = __syncthreads_or(is_odd);");
    m_code.open("for (int i = threadIdx.x; is_odd && i < {}; i += {})", m_tiles.rows * m_tiles.columns,
                m_tiles.threads());
    m_code.line("const int row = first_row + i % {};", m_tiles.rows);
    m_code.line("const int column = first_column + i / {};", m_tiles.rows);
    const KernelWriter::Scope scope = m_writer.scope();
    std::string condition = inside("row", m_shape.rowCount, m_tiles.rows);
    const std::string more = inside("column", m_shape.columnCount, m_tiles.columns);
    condition += (condition.empty() || more.empty() ? "" : " && ") + more;
    const bool hasTail = openIf(condition);
    m_writer.decode("row", m_shape.rows);
    m_writer.decode("column", m_shape.columns);
    const bool hasPhases = openIf(isResult());
    m_code.line("float total = 0.0f;");
    const KernelWriter::Scope inner = m_writer.scope();
    m_code.pragma("#pragma unroll 1");
    m_code.open("for (int depth = 0; depth < {}; ++depth)", m_shape.depthCount);
    m_writer.decode("depth", m_shape.depth);
    m_writer.compute({m_shape.left, m_shape.right});
    m_code.line("total += {} * {};", operand(m_writer.value(m_shape.left), Expression::Term),
                operand(m_writer.value(m_shape.right), Expression::Term, Side::Right));
    m_code.close();
    m_writer.leave(inner);
    storeResult("total");
    closeAll(1 + (hasTail ? 1 : 0) + (hasPhases ? 1 : 0));
    m_writer.leave(scope);
  }

  const Region& m_region;
  const ProductShape& m_shape;
  ConvTiles m_tiles;
  const ConvInput& m_input;
  std::span<const Bound> m_results;
  bool m_hasPhases;
  OperandParts m_weights;
  KernelWriter m_writer;
  Code& m_code;
  std::string m_planes;
  std::string m_exponents;
  std::string m_tilePlanes;
  std::string m_tileExponents;
};

}  // namespace

std::string coordinateSum(const KernelWriter& writer, const std::vector<std::int64_t>& factors,
                          const std::vector<std::size_t>& axes, std::int64_t offset, bool isWide) {
  std::string text;
  for (const std::size_t axis : axes) {
    const std::int64_t factor = factors[axis];
    if (factor == 0) {
      continue;
    }
    text += text.empty() ? (factor < 0 ? "-" : "") : (factor < 0 ? " - " : " + ");
    text += writer.coordinate(axis);
    if (std::abs(factor) != 1 || isWide) {
      text += fmt::format(" * {}{}", std::abs(factor), isWide ? "LL" : "");
    }
  }
  if (offset != 0 || text.empty()) {
    text += text.empty() ? fmt::format("{}", offset) : fmt::format(" {} {}", offset < 0 ? "-" : "+", std::abs(offset));
  }
  return text;
}

std::string insideAll(const KernelWriter& writer, std::span<const Bound> bounds, const std::vector<std::size_t>& axes) {
  std::string condition;
  for (const Bound& bound : bounds) {
    condition += fmt::format("{}inside({}, {})", condition.empty() ? "" : " && ",
                             coordinateSum(writer, bound.factors, axes, bound.offset), bound.extent);
  }
  return condition;
}

KernelText writeConv(const Instance& instance, const Launch& launch) {
  const ConvProblem problem = *ConvProblem::of(instance.region);
  const Instance dense{instance.pattern, problem.region(), instance.parameters, instance.device, instance.model};
  return ConvText(dense, problem).run(launch);
}

}  // namespace swage::synth
