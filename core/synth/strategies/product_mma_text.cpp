// SPDX-License-Identifier: Apache-2.0
// The kernels of products by mma.sync as text.
#include "core/synth/strategies/product_mma.h"

#include <algorithm>

namespace swage::synth {
namespace {

// Writes the passes and the product.
class MmaProduct {
 public:
  MmaProduct(const Instance& instance, ProductShape shape)
      : m_region(instance.region),
        m_shape(std::move(shape)),
        m_tiles(instance),
        m_left(mmaSource(m_region, m_shape, m_tiles, OperandParts::Side::Left)),
        m_right(mmaSource(m_region, m_shape, m_tiles, OperandParts::Side::Right)),
        m_type(m_left.operand != nullptr ? m_left.operand->dtype : m_left.parts->format().type),
        m_writer(instance, Dialect::of(domain::Language::CudaCpp),
                 {"sum",          "recent",   "minor",      "rows",        "columns",  "row",         "column",
                  "depth",        "batch",    "line",       "piece",       "part",     "tile",        "tiles",
                  "stage",        "step",     "shared",     "lane",        "warp_row", "warp_column", "first_row",
                  "first_column", "rows_at",  "columns_at", "matrices_at", "block",    "are_finite",  "first",
                  "bring",        "multiply", "settle",     "total",       "to",       "is_inside",   "largest",
                  "found",        "scale",    "exponent",   "is_finite",   "count",    "start",       "rest",
                  "at",           "i",        "k",          "r",           "c"}),
        m_code(m_writer.code()) {
    for (MmaSource* source : {&m_left, &m_right}) {
      if (source->parts) {
        const std::string name =
            m_region.prims[at(source->prim)].kind == Prim::Kind::Load
                ? m_writer.parameterOf(m_region.operands[at(m_region.prims[at(source->prim)].operand)])
                : (source == &m_left ? "left" : "right");
        source->planes = m_writer.unique(name + "_parts");
        source->exponents = m_writer.unique(name + "_exponents");
        source->tilePlanes = m_writer.unique(name + "_tile");
        source->tileExponents = m_writer.unique(name + "_tile_exponents");
      }
    }
  }

  KernelText run(const Launch& launch) {
    std::vector<std::vector<LaunchArgument>> arguments;
    std::vector<std::string> entries{launch.step.entry};
    for (const domain::KernelStep& step : launch.more) {
      entries.push_back(step.entry);
    }
    std::size_t scratch = 0;
    for (const MmaSource* source : {&m_left, &m_right}) {
      if (source->parts) {
        m_code.comment(source->parts->describe());
        source->parts->write(m_writer, entries[arguments.size()], source->planes, source->exponents);
        const std::set<std::size_t> buffers = m_writer.buffersOf(source->prim);
        arguments.push_back(argumentsOf({buffers.begin(), buffers.end()}, scratch, *source));
        scratch += source->parts->scratch().size();
      }
    }
    writeProduct(entries[arguments.size()]);
    arguments.push_back(argumentsOf(usedBuffers(), 0, m_left));
    const std::vector<LaunchArgument> right =
        argumentsOf({}, m_left.parts ? m_left.parts->scratch().size() : 0, m_right);
    arguments.back().insert(arguments.back().end(), right.begin(), right.end());
    KernelText text = m_writer.finish();
    text.arguments = std::move(arguments);
    return text;
  }

 private:
  static std::size_t at(int index) { return static_cast<std::size_t>(index); }

  static std::vector<LaunchArgument> argumentsOf(const std::vector<std::size_t>& buffers, std::size_t scratch,
                                                 const MmaSource& source) {
    std::vector<LaunchArgument> arguments;
    for (const std::size_t buffer : buffers) {
      arguments.push_back({LaunchArgument::Kind::Buffer, buffer});
    }
    for (std::size_t i = 0; source.parts && i < source.parts->scratch().size(); ++i) {
      arguments.push_back({LaunchArgument::Kind::Scratch, scratch + i});
    }
    return arguments;
  }

  // Of the product: what its results are computed from and stored in, and the operands that it reads itself.
  [[nodiscard]] std::vector<std::size_t> usedBuffers() const {
    std::set<std::size_t> used;
    for (const Store& store : m_region.groupStores) {
      used.merge(m_writer.buffersOf(store.prim));
    }
    for (const MmaSource* source : {&m_left, &m_right}) {
      if (source->operand != nullptr || isScaled()) {
        used.merge(m_writer.buffersOf(source->prim));
      }
    }
    for (std::size_t i = 0; i < m_writer.buffers().size(); ++i) {
      if (m_writer.buffers()[i].output) {
        used.insert(i);
      }
    }
    return {used.begin(), used.end()};
  }

  [[nodiscard]] bool isScaled() const { return m_left.parts && m_left.parts->format().isScaled; }
  [[nodiscard]] std::int64_t steps() const { return divideUp(m_shape.depthCount, m_tiles.depth); }
  [[nodiscard]] std::int64_t rowBytes(const MmaSource& source) const {
    return 2 * (source.isAlongDepth ? m_tiles.depth : source.tile);
  }
  [[nodiscard]] std::int64_t tileBytes(const MmaSource& source) const { return 2 * source.tile * m_tiles.depth; }

  void writeProduct(const std::string& entry) {
    m_code.comment(describeMma(m_region, m_shape, m_tiles));
    std::string scratch;
    for (const MmaSource* source : {&m_left, &m_right}) {
      if (source->parts) {
        scratch += fmt::format(", const {}* __restrict__ {}", m_writer.dialect().storageName(m_type), source->planes);
        scratch += isScaled() ? fmt::format(", const int* __restrict__ {}", source->exponents) : "";
      }
    }
    m_code.open("extern \"C\" __global__ void __launch_bounds__({}) {}({}{})", m_tiles.threads(), entry,
                m_writer.parameters(usedBuffers()), scratch);
    m_code.line("extern __shared__ __align__(128) unsigned char shared[];");
    m_code.line("const unsigned int tiles = sharedAddress(shared);");
    m_code.line("const int lane = threadIdx.x % 32;");
    m_code.line("const int warp_row = threadIdx.x / {} * {};", 32 * m_tiles.warpsAcross(), m_tiles.warpRows);
    m_code.line("const int warp_column = threadIdx.x / 32 % {} * {};", m_tiles.warpsAcross(), m_tiles.warpColumns);
    if (m_tiles.isPersistent) {
      m_code.open("for (int block = blockIdx.x; block < {}; block += gridDim.x)", mmaBlocks(m_shape, m_tiles));
      m_code.line("__syncthreads();  // every warp is done with the tiles before");
    }
    place(m_tiles.isPersistent ? "block" : "blockIdx.x");
    declareSums();
    m_code.blank();
    bring();
    m_code.blank();
    writeAddress(m_left);
    if (!lieAlike()) {
      writeAddress(m_right);
    }
    if (m_tiles.isPromoted()) {
      settle();
    }
    multiply();
    m_code.blank();
    loop();
    m_code.blank();
    finish();
    if (m_tiles.isPersistent) {
      m_code.close();
    }
    m_code.close();
  }

  // Neighbouring blocks share rows and columns of tiles, which they find in the second-level cache.
  void place(const std::string& block) {
    const std::int64_t across = divideUp(m_shape.columnCount, m_tiles.columns);
    const std::int64_t down = divideUp(m_shape.rowCount, m_tiles.rows);
    const std::int64_t band = down % 8 == 0 ? 8 : down % 4 == 0 ? 4 : down % 2 == 0 ? 2 : 1;
    const std::string bands = m_shape.batchCount > 1 ? fmt::format(" % {}", down / band) : "";
    m_code.line("const int first_row = ({0} / {1}{2} * {3} + {0} % {3}) * {4};", block, across * band, bands, band,
                m_tiles.rows);
    m_code.line("const int first_column = {} / {} % {} * {};", block, band, across, m_tiles.columns);
    if (m_shape.batchCount > 1) {
      m_code.line("const int batch = {} / {};", block, across * down);
      m_writer.decode("batch", m_shape.batch);
    }
    for (const MmaSource* source : {&m_left, &m_right}) {
      if (source->parts) {
        placePlanes(*source);
      }
    }
  }

  void placePlanes(const MmaSource& source) {
    const OperandParts& parts = *source.parts;
    const std::int64_t line = source.isAlongDepth ? parts.depthExtent() : 1;
    const std::string first =
        line == 1 ? fmt::format("first_{}", source.line) : fmt::format("first_{} * {}LL", source.line, line);
    const std::string batch = m_shape.batchCount > 1
                                  ? fmt::format("batch * {}LL + ", parts.lineExtent() * parts.depthExtent())
                                  : std::string();
    m_code.line("const {}* const {} = {} + {}{};", m_writer.dialect().storageName(m_type), source.tilePlanes,
                source.planes, batch, first);
    if (isScaled()) {
      m_code.line("const int* const {} = {} + {}first_{};", source.tileExponents, source.exponents,
                  m_shape.batchCount > 1 ? fmt::format("batch * {} + ", parts.lineExtent()) : "", source.line);
    }
  }

  void declareSums() {
    const std::string extents = fmt::format("[{}][{}][4] = {{}};", m_tiles.warpRows / 16, m_tiles.warpColumns / 8);
    m_code.line("float sum{}  // [16 rows][8 columns][of a thread]", extents);
    if (m_tiles.isPromoted()) {
      m_code.line("float recent{}  // of the last {} of the depth", extents, m_tiles.promote);
    }
    if (m_tiles.isSplit()) {
      m_code.line("float minor{}  // products with lower parts", extents);
    }
  }

  void bring() {
    m_code.comment(
        "Copies the tiles of a step into their stage. Pieces of 16 bytes change places within 8 lines, so that "
        "eight that are read together lie in different banks.");
    m_code.open("const auto bring = [&](int step)");
    m_code.line("const unsigned int stage = tiles + step % {} * {};", m_tiles.stages, m_tiles.stageBytes());
    bring(m_left, 0);
    bring(m_right, m_tiles.parts() * tileBytes(m_left));
    m_code.close(";");
  }

  void bring(const MmaSource& source, std::int64_t offset) {
    const std::int64_t pieces = rowBytes(source) / 16;  // of a line
    const std::int64_t lines = m_tiles.parts() * tileBytes(source) / rowBytes(source);
    const KernelWriter::Scope outside = m_writer.scope();
    m_code.pragma("#pragma unroll");
    m_code.open("for (int line = threadIdx.x / {}; line < {}; line += {})", pieces, lines, m_tiles.threads() / pieces);
    m_code.line("const int piece = threadIdx.x % {};", pieces);
    m_code.line("const unsigned int to = stage + {}line * {} + (piece ^ {}) * 16;",
                offset > 0 ? fmt::format("{} + ", offset) : "", rowBytes(source), exchange(source));
    if (source.parts) {
      copyPlanes(source);
    } else {
      copyOperand(source);
    }
    m_code.close();
    m_writer.leave(outside);
  }

  // With which number of a piece a line exchanges it.
  [[nodiscard]] std::string exchange(const MmaSource& source) const {
    return rowBytes(source) == 64 ? "(line / 2 % 4)" : "(line % 8)";
  }

  void copyPlanes(const MmaSource& source) {
    const OperandParts& parts = *source.parts;
    const std::int64_t lines = source.isAlongDepth ? source.tile : m_tiles.depth;
    // Indices of 32 bits take half the registers.
    const std::string_view suffix = m_tiles.parts() * parts.planeElements() < std::int64_t{1} << 31 ? "" : "LL";
    const std::string line = m_tiles.parts() > 1 ? fmt::format("line % {}", lines) : "line";
    const std::string plane =
        m_tiles.parts() > 1 ? fmt::format("line / {} * {}{} + ", lines, parts.planeElements(), suffix) : "";
    if (source.isAlongDepth) {
      m_code.line("copyAsync(to, &{}[{}{} * {} + step * {} + piece * 8]);", source.tilePlanes, plane, line,
                  parts.depthExtent(), m_tiles.depth);
    } else {
      m_code.line("copyAsync(to, &{}[{}(step * {} + {}) * {}{} + piece * 8]);", source.tilePlanes, plane, m_tiles.depth,
                  line, parts.lineExtent(), suffix);
    }
  }

  void copyOperand(const MmaSource& source) {
    m_code.line("const int {0} = first_{0} + {1};", source.line, source.isAlongDepth ? "line" : "piece * 8");
    m_code.line("const int depth = step * {} + {};", m_tiles.depth, source.isAlongDepth ? "piece * 8" : "line");
    std::string condition;
    if (source.count % source.tile != 0) {
      condition = fmt::format("{} < {}", source.line, source.count);
    }
    if (m_shape.depthCount % m_tiles.depth != 0) {
      condition += fmt::format("{}depth < {}", condition.empty() ? "" : " && ", m_shape.depthCount);
    }
    m_writer.decode(source.line, *source.axes);
    m_writer.decode("depth", m_shape.depth);
    const std::string element = m_writer.element(*source.operand);
    if (condition.empty()) {
      m_code.line("copyAsync(to, &{});", element);
    } else {
      m_code.line("const bool is_inside = {};", condition);
      m_code.line("copyAsync(to, is_inside ? &{} : {}, is_inside);", element, m_writer.parameterOf(*source.operand));
    }
  }

  // Both sides find their rows in one way where they lie in one way.
  [[nodiscard]] bool lieAlike() const {
    return m_left.isAlongDepth == m_right.isAlongDepth && rowBytes(m_left) == rowBytes(m_right);
  }
  [[nodiscard]] std::string addressOf(const MmaSource& source) const {
    return lieAlike() ? "matrices_at" : source.lines + "_at";
  }

  // Where a lane finds its row of four matrices: lines 0 to 7 and 8 to 15, then both 8 further along the depth.
  void writeAddress(const MmaSource& source) {
    m_code.comment(fmt::format("The row that a lane gives to ldmatrix, of 16 {} by 16 of the depth from here on.",
                               lieAlike() ? "rows or columns" : source.lines));
    m_code.open("const auto {} = [&](unsigned int tile, int first, int depth)", addressOf(source));
    if (source.isAlongDepth) {
      m_code.line("const int line = first + lane % 16;");
      m_code.line("const int piece = depth / 8 + lane / 16;");
    } else {
      m_code.line("const int line = depth + lane / 16 * 8 + lane % 8;");
      m_code.line("const int piece = first / 8 + lane / 8 % 2;");
    }
    m_code.line("return tile + line * {} + (piece ^ {}) * 16;", rowBytes(source), exchange(source));
    m_code.close(";");
  }

  void openSums() {
    m_code.pragma("#pragma unroll");
    m_code.open("for (int r = 0; r < {}; ++r)", m_tiles.warpRows / 16);
    m_code.pragma("#pragma unroll");
    m_code.open("for (int c = 0; c < {}; ++c)", m_tiles.warpColumns / 8);
  }

  void settle() {
    m_code.comment("Takes what tensor cores have added up into the sums.");
    m_code.open("const auto settle = [&]()");
    openSums();
    m_code.pragma("#pragma unroll");
    m_code.open("for (int i = 0; i < 4; ++i)");
    if (m_tiles.isSplit()) {
      const int shift = m_left.parts->format().shift;
      m_code.line("sum[r][c][i] += recent[r][c][i] + minor[r][c][i]{};",
                  shift > 0 ? fmt::format(" * {}f", 1.0 / static_cast<double>(std::int64_t{1} << shift)) : "");
      m_code.line("recent[r][c][i] = minor[r][c][i] = 0.0f;");
    } else {
      m_code.line("sum[r][c][i] += recent[r][c][i];");
      m_code.line("recent[r][c][i] = 0.0f;");
    }
    m_code.close();
    m_code.close();
    m_code.close();
    m_code.close(";");
  }

  void multiply() {
    const std::int64_t parts = m_tiles.parts();
    m_code.comment("Takes the tiles of a step from shared memory, 16 of their depth at a time, and multiplies them.");
    m_code.open("const auto multiply = [&](int step)");
    m_code.line("const unsigned int stage = tiles + step % {} * {};", m_tiles.stages, m_tiles.stageBytes());
    m_code.pragma("#pragma unroll");
    m_code.open("for (int k = 0; k < {}; k += 16)", m_tiles.depth);
    m_code.line("unsigned int rows[{}][{}][4];", parts, m_tiles.warpRows / 16);
    m_code.line("unsigned int columns[{}][{}][4];", parts, m_tiles.warpColumns / 16);
    m_code.pragma("#pragma unroll");
    m_code.open("for (int part = 0; part < {}; ++part)", parts);
    loadSide(m_left, "r", 0);
    loadSide(m_right, "c", parts * tileBytes(m_left));
    m_code.close();
    openSums();
    const std::string function = m_type == domain::ScalarType::Float16 ? "multiplyHalf" : "multiplyBFloat16";
    for (const auto& [left, right] : partPairs(m_tiles.mode)) {
      const std::string target = left + right > 0 ? "minor" : m_tiles.isPromoted() ? "recent" : "sum";
      m_code.line("{0}({1}[r][c], rows[{2}][r], columns[{3}][c / 2][c % 2], columns[{3}][c / 2][c % 2 + 2]);", function,
                  target, left, right);
    }
    m_code.close();
    m_code.close();
    if (m_tiles.isPromoted() && m_tiles.promote < m_tiles.depth) {
      m_code.open("if ((k + 16) % {} == 0)", m_tiles.promote);
      m_code.line("settle();");
      m_code.close();
    }
    m_code.close();
    m_code.close(";");
  }

  void loadSide(const MmaSource& source, const std::string& index, std::int64_t offset) {
    m_code.pragma("#pragma unroll");
    m_code.open("for (int {0} = 0; {0} < {1}; ++{0})", index, source.warp / 16);
    m_code.line("{}({}[part][{}], {}(stage + {}part * {}, warp_{} + {} * 16, k));",
                source.isAlongDepth ? "loadMatrices" : "loadTransposed", source.lines, index, addressOf(source),
                offset > 0 ? fmt::format("{} + ", offset) : "", tileBytes(source), source.line, index);
    m_code.close();
  }

  void loop() {
    const std::int64_t ahead = m_tiles.stages - 1;
    m_code.open("for (int step = 0; step < {}; ++step)", ahead);
    m_code.line("bring(step);");
    m_code.line("commitCopies();");
    m_code.close();
    m_code.open("for (int step = 0; step < {}; ++step)", steps());
    m_code.comment("Here the tiles of this step are there, and every warp is done with those of the step before.");
    m_code.line("waitForCopies<{}>();", ahead - 1);
    m_code.line("__syncthreads();");
    m_code.open("if (step < {})", steps() - ahead);
    m_code.line("bring(step + {});", ahead);
    m_code.close();
    m_code.line("commitCopies();");
    m_code.line("multiply(step);");
    if (m_tiles.promote > m_tiles.depth) {
      m_code.open("if (step % {0} == {1})", m_tiles.promote / m_tiles.depth, m_tiles.promote / m_tiles.depth - 1);
      m_code.line("settle();");
      m_code.close();
    } else if (m_tiles.promote == m_tiles.depth) {
      m_code.line("settle();");
    }
    m_code.close();
    if (m_tiles.promote > m_tiles.depth && steps() * m_tiles.depth % m_tiles.promote != 0) {
      m_code.line("settle();");
    }
  }

  [[nodiscard]] std::string insideResult() const {
    std::string condition;
    if (m_shape.rowCount % m_tiles.rows != 0) {
      condition = fmt::format("row < {}", m_shape.rowCount);
    }
    if (m_shape.columnCount % m_tiles.columns != 0) {
      condition += fmt::format("{}column < {}", condition.empty() ? "" : " && ", m_shape.columnCount);
    }
    return condition;
  }

  // What follows the product, and its results, at `row` and `column`.
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
    openSums();
    m_code.pragma("#pragma unroll");
    m_code.open("for (int i = 0; i < 4; ++i)");
    m_code.line("const int row = first_row + warp_row + r * 16 + i / 2 * 8 + lane / 4;");
    m_code.line("const int column = first_column + warp_column + c * 8 + lane % 4 * 2 + i % 2;");
    const std::string condition = insideResult();
    if (!condition.empty()) {
      m_code.open("if ({})", condition);
    }
    m_writer.decode("row", m_shape.rows);
    m_writer.decode("column", m_shape.columns);
    if (isScaled()) {
      m_code.line("const float total = ldexpf(sum[r][c][i], {}[row - first_row] + {}[column - first_column]);",
                  m_left.tileExponents, m_right.tileExponents);
    }
    storeResult(isScaled() ? "total" : "sum[r][c][i]");
    if (!condition.empty()) {
      m_code.close();
    }
    m_code.close();
    m_code.close();
    m_code.close();
    m_writer.leave(outside);
    if (isScaled()) {
      m_code.blank();
      finishNotFinite();
    }
  }

  // `i` up to the larger tile, as a line of this one.
  [[nodiscard]] std::string within(const MmaSource& source) const {
    return source.tile < std::max(m_left.tile, m_right.tile) ? fmt::format("i % {}", source.tile) : "i";
  }

  void finishNotFinite() {
    m_code.comment(
        "What comes of rows and columns with an infinity or NaN, which have counted as zeros: added up anew.");
    m_code.line("int largest = 0;");
    m_code.open("for (int i = threadIdx.x; i < {}; i += {})", std::max(m_left.tile, m_right.tile), m_tiles.threads());
    m_code.line("largest = max(largest, max({}[{}], {}[{}]));", m_left.tileExponents, within(m_left),
                m_right.tileExponents, within(m_right));
    m_code.close();
    m_code.line("const bool are_finite = __syncthreads_or(largest == kNotFinite) == 0;");
    m_code.open("for (int i = threadIdx.x; !are_finite && i < {}; i += {})", m_tiles.rows * m_tiles.columns,
                m_tiles.threads());
    m_code.line("const int row = first_row + i / {};", m_tiles.columns);
    m_code.line("const int column = first_column + i % {};", m_tiles.columns);
    const std::string condition = insideResult();
    m_code.open("if ({0}{1}[i / {3}] + {2}[i % {3}] >= kNotFinite / 2)", condition.empty() ? "" : condition + " && ",
                m_left.tileExponents, m_right.tileExponents, m_tiles.columns);
    m_writer.decode("row", m_shape.rows);
    m_writer.decode("column", m_shape.columns);
    m_code.line("float total = 0.0f;");
    const KernelWriter::Scope outside = m_writer.scope();
    m_code.open("for (int depth = 0; depth < {}; ++depth)", m_shape.depthCount);
    m_writer.decode("depth", m_shape.depth);
    m_writer.compute({m_left.prim, m_right.prim});
    m_code.line("total += {} * {};", operand(m_writer.value(m_left.prim), Expression::Term),
                operand(m_writer.value(m_right.prim), Expression::Term, Side::Right));
    m_code.close();
    m_writer.leave(outside);
    storeResult("total");
    m_code.close();
    m_code.close();
  }

  const Region& m_region;
  ProductShape m_shape;
  MmaTiles m_tiles;
  MmaSource m_left;
  MmaSource m_right;
  domain::ScalarType m_type;
  KernelWriter m_writer;
  Code& m_code;
};

}  // namespace

KernelText writeMmaProduct(const Instance& instance, const Launch& launch) {
  return MmaProduct(instance, *productShape(instance.region)).run(launch);
}

}  // namespace swage::synth
