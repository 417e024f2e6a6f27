// SPDX-License-Identifier: Apache-2.0
// The kernels of products that split their operands while they bring them, as text.
#include <algorithm>
#include <set>
#include <utility>

#include "core/synth/strategies/product_onepass.h"
#include "core/synth/strategies/product_wgmma.h"

namespace swage::synth {
namespace {

using Kind = LaunchArgument::Kind;

// Writes the kernels: clear, product, finish.
class OnepassText {
 public:
  OnepassText(const Instance& instance, ProductShape shape, int number)
      : m_region(instance.region),
        m_shape(std::move(shape)),
        m_tiles(instance),
        m_schedule(m_shape, m_tiles, instance.device.multiprocessors),
        m_left(onepassSource(m_region, m_shape, m_tiles, OnepassSide::Left)),
        m_right(onepassSource(m_region, m_shape, m_tiles, OnepassSide::Right)),
        m_number(number),
        m_writer(instance, Dialect::of(domain::Language::CudaCpp),
                 {"sum",     "fresh",     "row",      "column",   "depth",        "batch",     "lane",   "group",
                  "warp",    "slot",      "phase",    "advance",  "full",         "empty",     "slots",  "staged",
                  "tile",    "next",      "step",     "kept",     "largest",      "bring",     "thread", "major",
                  "minor",   "first_row", "memory",   "products", "first_column", "left_high", "now",    "left_low",
                  "ready",   "to",        "is_there", "is_last",  "right_high",   "right_low", "number", "partial",
                  "left_at", "right_at",  "parts",    "total",    "is_exact",     "of_chunk",  "first",  "i",
                  "p",       "r",         "c",        "v",        "at",           "place",     "is_any", "rows",
                  "line"}),
        m_code(m_writer.code()),
        m_storesRows(storesRows(m_region, m_shape)) {}

  KernelText run(const Launch& launch) {
    std::vector<std::vector<LaunchArgument>> arguments;
    writeClear(launch.step.entry, launch.scratch.front().elementCount());
    arguments.push_back({{Kind::Scratch, 0}});
    writeWarpGroupMultiply(m_code, m_number, {m_tiles.columns, "f16", m_left.isAlongDepth, m_right.isAlongDepth});
    writeFind();
    writeProduct(launch.more[0].entry);
    writeFinish(launch.more[1].entry);
    for (int i = 0; i < 2; ++i) {
      std::vector<LaunchArgument>& each = arguments.emplace_back();
      for (const std::size_t place : usedBuffers()) {
        each.push_back({Kind::Buffer, place});
      }
      each.push_back({Kind::Scratch, 0});
      if (isCut()) {
        each.push_back({Kind::Scratch, 1});
      }
    }
    KernelText text = m_writer.finish();
    text.arguments = std::move(arguments);
    return text;
  }

 private:
  [[nodiscard]] bool isCut() const { return m_schedule.parts > 1; }
  [[nodiscard]] bool isBatched() const { return m_shape.batchCount > 1; }

  // All: the operands, what follows the product, and the results.
  [[nodiscard]] std::vector<std::size_t> usedBuffers() const {
    std::set<std::size_t> used = m_writer.buffersOf(m_left.prim);
    used.merge(m_writer.buffersOf(m_right.prim));
    for (const Store& store : m_region.groupStores) {
      used.merge(m_writer.buffersOf(store.prim));
    }
    for (std::size_t i = 0; i < m_writer.buffers().size(); ++i) {
      if (m_writer.buffers()[i].output) {
        used.insert(i);
      }
    }
    return {used.begin(), used.end()};
  }

  // Of both large kernels.
  [[nodiscard]] std::string parameters(bool isProduct) const {
    const std::string_view constant = isProduct ? "" : "const ";
    return fmt::format("{}, {}unsigned int* largest_of{}", m_writer.parameters(usedBuffers()), constant,
                       isCut() ? fmt::format(", {}float* __restrict__ partial", constant) : "");
  }

  // "x = static_cast<const float*>(…)": what lets the compiler join accesses to neighbours.
  void alignOperands() {
    std::set<std::size_t> places = m_writer.buffersOf(m_left.prim);
    places.merge(m_writer.buffersOf(m_right.prim));
    for (const std::size_t place : places) {
      const KernelBuffer& buffer = m_writer.buffers()[place];
      const auto operand = std::find_if(m_region.operands.begin(), m_region.operands.end(), [&](const Operand& each) {
        return each.value == buffer.value && each.output == buffer.output;
      });
      m_code.line("{0} = static_cast<const {1}*>(__builtin_assume_aligned({0}, 16));", m_writer.parameterOf(*operand),
                  m_writer.dialect().storageName(operand->dtype));
    }
  }

  void writeClear(const std::string& entry, std::int64_t count) {
    m_code.open("extern \"C\" __global__ void __launch_bounds__(256) {}(unsigned int* largest_of)", entry);
    m_code.line("const int i = blockIdx.x * 256 + threadIdx.x;");
    m_code.open("if (i < {})", count);
    m_code.line("largest_of[i] = 0;");
    m_code.close();
    m_code.close();
    m_code.blank();
  }

  // --- tiles
  void writeFind() {
    const OnepassSchedule& s = m_schedule;
    const std::int64_t each = s.down * s.across;
    const std::int64_t band = std::min(m_tiles.band, s.down);
    m_code.comment(fmt::format("What a block makes as number i, of {} tiles{}. Neighbours share operands.", s.tiles,
                               isCut() ? fmt::format(", each in {} parts of the sum", s.parts) : ""));
    m_code.open("struct Tile_{}", m_number);
    m_code.line("int {}row, column, first, last{};", isBatched() ? "batch, " : "", isCut() ? ", part" : "");
    m_code.close(";");
    m_code.open("__device__ inline bool find_{0}(int i, Tile_{0}& tile)", m_number);
    m_code.line("const int {} = blockIdx.x + i * {};", isCut() ? "place" : "number", s.places);
    if (isCut()) {
      m_code.line("const int number = place % {};", s.tiles);
      m_code.line("tile.part = place / {};", s.tiles);
      m_code.line("tile.first = {}LL * tile.part / {};", s.steps, s.parts);
      m_code.line("tile.last = {}LL * (tile.part + 1) / {};", s.steps, s.parts);
    } else {
      m_code.line("tile.first = 0;");
      m_code.line("tile.last = {};", s.steps);
    }
    const std::string in = isBatched() ? fmt::format("number % {}", each) : "number";
    if (isBatched()) {
      m_code.line("tile.batch = number / {};", each);
    }
    m_code.line("const int band = {} / {} * {};", in, band * s.across, band);
    std::string down = fmt::format("{}", band);
    if (s.down % band != 0) {
      m_code.line("const int down = min({}, {} - band);", band, s.down);
      down = "down";
    }
    m_code.line("tile.row = (band + {} % {} % {}) * {};", in, band * s.across, down, m_tiles.rows);
    m_code.line("tile.column = {} % {} / {} * {};", in, band * s.across, down, m_tiles.columns);
    m_code.line("return {} < {};", isCut() ? "place" : "number", s.tiles * s.parts);
    m_code.close();
    m_code.blank();
  }

  // --- the product
  void writeProduct(const std::string& entry) {
    const KernelWriter::Scope outside = m_writer.scope();
    m_code.comment(fmt::format(
        "A product of {} by {}, summed over {}{}, on tensor cores as high * high + high * low + low * high. A block "
        "makes tiles of {} by {}: two warp groups bring the operands and split each number into two halves, {} "
        "multiply 64 rows each. Tensor cores cut off low bits when they add, so every {} their sums go into sums in "
        "float, the small products first.",
        m_shape.rowCount, m_shape.columnCount, extentsText(m_region, m_shape.depth),
        isBatched() ? fmt::format(", {} times", m_shape.batchCount) : "", m_tiles.rows, m_tiles.columns,
        m_tiles.groups() == 1 ? "one" : fmt::format("{}", m_tiles.groups()), m_tiles.promote));
    m_code.open("extern \"C\" __global__ void __launch_bounds__({}, 1) {}({})", m_tiles.threads(), entry,
                parameters(true));
    prepare();
    m_code.open("if (group >= {})", m_tiles.groups());
    bringAll();
    m_code.otherwise();
    consume();
    m_code.close();
    m_code.close();
    m_code.blank();
    m_writer.leave(outside);
  }

  void prepare() {
    alignOperands();
    m_code.line("extern __shared__ __align__(128) unsigned char shared[];");
    m_code.line("unsigned char* const memory = shared + (0u - sharedAddress(shared)) % 1024;  // as the swizzle needs");
    m_code.line("const unsigned int slots = sharedAddress(memory);");
    m_code.line("float* const staged = reinterpret_cast<float*>(memory + {});  // results on their way out",
                m_tiles.slots * m_tiles.slotBytes());
    const std::int64_t barriers = m_tiles.slots * m_tiles.slotBytes() + m_tiles.rows * m_tiles.stagedStride() * 4;
    m_code.line("const unsigned int full = slots + {}, empty = full + {};  // barriers of 8 bytes", barriers,
                m_tiles.slots * 8);
    m_code.line("const int group = threadIdx.x / 128;");
    m_code.open("if (threadIdx.x < {})", m_tiles.slots);
    m_code.line("initBarrier(full + threadIdx.x * 8, 8);  // warps that bring");
    m_code.line("initBarrier(empty + threadIdx.x * 8, {});", m_tiles.groups());
    m_code.line("publishBarriers();");
    m_code.close();
    m_code.line("__syncthreads();");
    m_code.line("Tile_{} tile;", m_number);
    m_code.line("int slot = 0, phase = 0;");
    m_code.open("const auto advance = [&]");
    m_code.line("const int now = slot;");
    m_code.line("slot = slot == {} ? 0 : slot + 1;", m_tiles.slots - 1);
    m_code.line("phase ^= slot == 0;");
    m_code.line("return now;");
    m_code.close(";");
  }

  void setRegisters(std::int64_t count) {
    if (count != m_tiles.firstRegisters()) {
      m_code.line("{}Registers<{}>();", count > m_tiles.firstRegisters() ? "take" : "give", count);
    }
  }

  // --- the warp groups that bring
  void bringAll() {
    m_code.comment(
        "--- Each thread splits what it has brought for this step into the next slot, and asks for the same pieces of "
        "the step after it.");
    setRegisters(std::min<std::int64_t>(232, m_tiles.bringRegisters()));
    m_code.line("const int thread = threadIdx.x - {};", m_tiles.groups() * 128);
    m_code.line("const int major = thread / 16, minor = thread % 16 * 4;  // of a piece in 64 by 64 numbers");
    m_code.line("const unsigned int mine = slots + major * 128 + (minor / 8 ^ major % 8) * 16 + minor % 8 * 2;");
    if (!isPlain()) {
      writeElement(m_left);
      writeElement(m_right);
    }
    m_code.line("Tile_{} next;", m_number);
    m_code.line("bool is_there = find_{}(0, next);", m_number);
    m_code.line("{} kept[{}]{};  // {} pieces of the left operand, then of the right one",
                isPlain() ? "Vec<float, 4>" : "float", m_tiles.pieces(), isPlain() ? "" : "[4]", m_tiles.leftPieces());
    m_code.line("float largest[{}] = {{}};", m_tiles.pieces());
    m_code.open("const auto bring = [&](int p, int step)");
    bringPiece();
    m_code.close(";");
    m_code.line("int number = 0, step = next.first;");
    openPieces("p", m_tiles.pieces());
    m_code.line("bring(p, step);");
    m_code.close();
    bringSteps();
  }

  void bringSteps() {
    m_code.open("while (is_there)");
    m_code.line("tile = next;");
    m_code.line("const bool is_last = ++step == tile.last;");
    m_code.open("if (is_last)");
    m_code.line("is_there = find_{}(++number, next);", m_number);
    m_code.line("next = is_there ? next : tile;  // at the end once more the same");
    m_code.line("step = next.first;");
    m_code.close();
    splitStep();
    m_code.open("if (is_last)");
    report();
    m_code.close();
    m_code.close();
  }

  void openPieces(const std::string& name, std::int64_t count) {
    m_code.pragma("#pragma unroll");
    m_code.open("for (int {0} = 0; {0} < {1}; ++{0})", name, count);
  }

  void writeElement(const OnepassSource& source) {
    const KernelWriter::Scope outside = m_writer.scope();
    m_code.open("const auto {}_at = [&]({}int {}, int depth)", source.lines, source.batch > 1 ? "int batch, " : "",
                source.line);
    if (source.batch > 1) {
      m_writer.decode("batch", m_shape.batch);
    }
    m_writer.decode(source.line, *source.axes);
    m_writer.decode("depth", m_shape.depth);
    if (source.isVector) {
      m_code.line("return &{};", elementOfTensor(source));
    } else {
      m_writer.compute({source.prim});
      m_code.line("return {};", m_writer.value(source.prim).text);
    }
    m_code.close(";");
    m_writer.leave(outside);
  }

  // Where a piece lies: lines beyond the last are the last again, whose results nobody stores.
  void bringPiece() {
    if (isPlain()) {
      bringPlainPiece();
      return;
    }
    m_code.open("if (p < {})", m_tiles.leftPieces());
    bringPieceOf(m_left);
    m_code.otherwise();
    bringPieceOf(m_right);
    m_code.close();
  }

  // Whether all pieces are 16 bytes that lie inside, of matrices whose neighbours in memory are along the depth.
  [[nodiscard]] bool isPlain() const {
    return !isBatched() && !hasDepthTail() && m_left.isVector && m_right.isVector && m_left.isAlongDepth &&
           m_right.isAlongDepth;
  }

  void bringPlainPiece() {
    const KernelWriter::Scope outside = m_writer.scope();
    m_code.line("const int depth = step * 64 + minor;");
    m_writer.decode("depth", m_shape.depth);
    for (const OnepassSource* source : {&m_left, &m_right}) {
      const std::string line = fmt::format("next.{} + {} * 16 + major", source->line, pieceOf(*source));
      m_code.line("const int {} = {};", source->line, clamped(line, source->count - 1, hasLineTail(*source)));
      m_writer.decode(source->line, *source->axes);
    }
    m_code.line("kept[p] = load<float, 4>(p < {} ? &{} : &{});", m_tiles.leftPieces(), elementOfTensor(m_left),
                elementOfTensor(m_right));
    m_writer.leave(outside);
  }

  [[nodiscard]] std::string elementOfTensor(const OnepassSource& source) const {
    const int operand = m_region.prims[static_cast<std::size_t>(source.prim)].operand;
    return m_writer.element(m_region.operands[static_cast<std::size_t>(operand)]);
  }

  // Zeros beyond the depth, so that they add nothing.
  void keepPiece(const std::string& value, bool isAlongDepth) {
    openPieces("v", 4);
    if (hasDepthTail()) {
      m_code.line("const float value = {};", value);
      m_code.line("kept[p][v] = depth{} < {} ? value : 0.0f;", isAlongDepth ? " + v" : "", m_shape.depthCount);
    } else {
      m_code.line("kept[p][v] = {};", value);
    }
    m_code.close();
  }

  [[nodiscard]] bool hasDepthTail() const { return m_shape.depthCount % kOnepassDepth != 0; }
  [[nodiscard]] bool hasLineTail(const OnepassSource& source) const {
    return source.count % (source.line == "row" ? m_tiles.rows : m_tiles.columns) != 0;
  }

  // "min(x, 7)" where x may be larger.
  static std::string clamped(const std::string& value, std::int64_t last, bool isNeeded) {
    return isNeeded ? fmt::format("min({}, {})", value, last) : value;
  }

  void bringPieceOf(const OnepassSource& source) {
    const std::string p = pieceOf(source);
    std::string line = fmt::format("next.{} + {} * 16 + major", source.line, p);
    std::string depth = "step * 64 + minor";
    if (!source.isAlongDepth) {
      line = fmt::format("next.{} + {} / 4 * 64 + minor", source.line, p);
      depth = fmt::format("step * 64 + {} % 4 * 16 + major", p);
    }
    const bool isLineWide = !source.isAlongDepth && source.isWide;
    m_code.line(
        "const int {} = {};", source.line,
        clamped(line, source.count - (isLineWide ? 4 : 1), hasLineTail(source) && (source.isAlongDepth || isLineWide)));
    m_code.line("const int depth = {};", depth);
    const auto [lineAt, depthAt] = elementOf(source);
    const std::string value =
        fmt::format("{}_at({}{}, {})", source.lines, source.batch > 1 ? "next.batch, " : "", lineAt, depthAt);
    if (source.isVector) {
      m_code.line("Vec<float, 4> piece = load<float, 4>({});", value);
      keepPiece("piece[v]", source.isAlongDepth);
    } else {
      keepPiece(value, source.isAlongDepth);
    }
  }

  // Line and depth of the first, or of number v, of four neighbours; none lies outside.
  [[nodiscard]] std::pair<std::string, std::string> elementOf(const OnepassSource& source) const {
    const std::string v = source.isVector ? "" : " + v";
    if (!source.isAlongDepth) {
      return {source.isWide ? source.line + v : clamped(source.line + " + v", source.count - 1, hasLineTail(source)),
              clamped("depth", m_shape.depthCount - 1, hasDepthTail())};
    }
    return {source.line, source.isWide ? clamped("depth", m_shape.depthCount - 4, hasDepthTail()) + v
                                       : clamped("depth + v", m_shape.depthCount - 1, hasDepthTail())};
  }

  // Which of the largest magnitudes element v of piece p belongs to, relative to those of the operand.
  static std::string largestIndex(const OnepassSource& source) {
    const std::string p = pieceOf(source);
    const std::string index = source.isAlongDepth ? "p" : fmt::format("{} / 4 * 4 + v", p);
    return source.isAlongDepth || source.firstPiece == 0 ? index : fmt::format("{} + {}", source.firstPiece, index);
  }

  void splitStep() {
    m_code.line("waitFor(empty + slot * 8, phase ^ 1);");
    m_code.line("const unsigned int ready = full + slot * 8;");
    m_code.line("const unsigned int to = mine + advance() * {};", m_tiles.slotBytes());
    openPieces("p", m_tiles.pieces());
    openPieces("v", 4);
    const std::string left = largestIndex(m_left);
    const std::string right = largestIndex(m_right);
    m_code.line("const int at = {};",
                left == right ? left : fmt::format("p < {} ? {} : {}", m_tiles.leftPieces(), left, right));
    m_code.line("largest[at] = fmaxf(largest[at], fabsf(kept[p][v]));");
    m_code.close();
    m_code.line("const SplitFour parts = splitFour(kept[p]{}, {}.0f);", isPlain() ? ".item" : "",
                std::int64_t{1} << kOnepassScale);
    m_code.line("storeFour(to + p * 2048, parts.high);");
    m_code.line("storeFour(to + {} + p * 2048, parts.low);", m_tiles.partBytes());
    m_code.line("bring(p, step);");
    m_code.open("if (p % 4 == 3)");
    m_code.line("__syncwarp();  // keeps the compiler from asking for all of them at the end");
    m_code.close();
    m_code.close();
    m_code.line("publishShared();");
    m_code.line("__syncwarp();");
    arrive("ready", 32);
  }

  // One thread of so many tells that all of them are ready.
  void arrive(const std::string& barrier, int threads) {
    m_code.open("if (threadIdx.x % {} == 0)", threads);
    m_code.line("arriveAt({}, 0);", barrier);
    m_code.close();
  }

  // The first tile of a row or column of tiles tells what its lines have had.
  void report() {
    openPieces("p", m_tiles.pieces());
    if (m_left.isAlongDepth == m_right.isAlongDepth) {
      reportPiece(ofEither(isFirst(m_left), isFirst(m_right)),
                  ofEither(largestOfPiece(m_left), largestOfPiece(m_right)), m_left.isAlongDepth);
    } else {
      m_code.open("if (p < {})", m_tiles.leftPieces());
      reportPiece(isFirst(m_left), largestOfPiece(m_left), m_left.isAlongDepth);
      m_code.otherwise();
      reportPiece(isFirst(m_right), largestOfPiece(m_right), m_right.isAlongDepth);
      m_code.close();
    }
    m_code.line("largest[p] = 0.0f;");
    m_code.close();
  }

  // What holds for piece p, of either operand: loops over p are unrolled.
  [[nodiscard]] std::string ofEither(const std::string& left, const std::string& right) const {
    return fmt::format("p < {} ? {} : {}", m_tiles.leftPieces(), left, right);
  }

  [[nodiscard]] std::string isFirst(const OnepassSource& source) const {
    const bool isForAllBatches = isBatched() && source.batch == 1;
    return fmt::format("tile.{} == 0{}", source.line == "row" ? "column" : "row",
                       isForAllBatches ? " && tile.batch == 0" : "");
  }

  // Number p among the pieces of the operand.
  static std::string pieceOf(const OnepassSource& source) {
    return source.firstPiece == 0 ? "p" : fmt::format("(p - {})", source.firstPiece);
  }

  [[nodiscard]] std::string largestOfPiece(const OnepassSource& source) const {
    const std::string p = pieceOf(source);
    const std::string line = fmt::format(
        "tile.{} + {}", source.line,
        source.isAlongDepth ? fmt::format("{} * 16 + major", p) : fmt::format("{0} / 4 * 64 + minor + {0} % 4", p));
    return fmt::format("{}{}{}", source.firstLargest > 0 ? fmt::format("{} + ", source.firstLargest) : "",
                       source.batch > 1 ? fmt::format("tile.batch * {} + ", source.count) : "",
                       clamped(line, source.count - 1, hasLineTail(source)));
  }

  void reportPiece(const std::string& condition, const std::string& index, bool isAlongDepth) {
    m_code.open("if ({})", condition);
    if (isAlongDepth) {
      m_code.open("for (int mask = 8; mask > 0; mask /= 2)");
      m_code.line("largest[p] = fmaxf(largest[p], __shfl_xor_sync(0xffffffffu, largest[p], mask));");
      m_code.close();
      m_code.open("if (minor == 0)");
    }
    m_code.line("const int line = {};", index);
    m_code.line("atomicMax(&largest_of[line], __float_as_uint(largest[p]));");
    if (isAlongDepth) {
      m_code.close();
    }
    m_code.close();
  }

  // --- the warp groups that multiply
  void consume() {
    m_code.comment("--- The others multiply 64 rows of the tile each.");
    setRegisters(m_tiles.registers());
    m_code.line("const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;");
    m_code.line("float* const rows = staged + warp * {};  // 16 of them", 16 * m_tiles.stagedStride());
    if (m_tiles.groups() > 1) {
      m_code.open("if (group == {})", m_tiles.groups() - 1);
      m_code.line("giveTurn(0);");
      m_code.close();
    }
    m_code.open("for (int i = 0; find_{}(i, tile); ++i)", m_number);
    m_code.line("float sum[{}] = {{}};", m_tiles.sums());
    m_code.line("float fresh[{}];  // of the last {} of the sum", m_tiles.sums(), m_tiles.promote);
    m_code.open("const auto products = [&](unsigned long long left, unsigned long long right, bool keep)");
    openPieces("k", m_tiles.promote / 16);
    m_code.line("multiply_{}(fresh, left + k * {}, right + k * {}, k > 0 || keep);", m_number, advanceOf(m_left),
                advanceOf(m_right));
    m_code.close();
    m_code.close(";");
    m_code.open("for (int step = tile.first; step < tile.last; ++step)");
    multiplyStep();
    m_code.close();
    store();
    m_code.close();
    if (copiesRows()) {
      m_code.line("waitForStores();");
    }
  }

  void multiplyStep() {
    m_code.line("waitFor(full + slot * 8, phase);");
    m_code.line("const int now = advance();");
    m_code.line("const unsigned int at = slots + now * {};", m_tiles.slotBytes());
    for (const auto& [part, offset] : {std::pair{"high", std::int64_t{0}}, std::pair{"low", m_tiles.partBytes()}}) {
      m_code.line("const unsigned long long left_{} = tileDescriptor(at + {}group * 8192);", part,
                  offset > 0 ? fmt::format("{} + ", offset) : "");
      m_code.line("const unsigned long long right_{} = tileDescriptor(at + {});", part, offset + m_tiles.leftBytes());
    }
    const bool isWhole = m_tiles.promote == kOnepassDepth;
    if (isWhole) {
      multiplyPart("", "");
      release();
    } else {
      m_code.pragma("#pragma unroll 1");
      m_code.open("for (int k = 0; k < 4; k += {})", m_tiles.promote / 16);
      multiplyPart(fmt::format(" + k * {}", advanceOf(m_left)), fmt::format(" + k * {}", advanceOf(m_right)));
    }
    openPieces("i", m_tiles.sums());
    m_code.line("sum[i] += fresh[i];");
    m_code.close();
    if (!isWhole) {
      m_code.close();
      release();
    }
  }

  // Of a descriptor, by 16 of the depth.
  static std::int64_t advanceOf(const OnepassSource& source) { return source.isAlongDepth ? 32 / 16 : 2048 / 16; }

  void release() { arrive("empty + now * 8", 128); }

  // What goes into the sums at once.
  void multiplyPart(const std::string& left, const std::string& right) {
    const bool takesTurns = m_tiles.groups() > 1;
    if (takesTurns) {
      m_code.line("takeTurn(group);");
    }
    m_code.line("openProducts(fresh);");
    m_code.line("products(left_low{}, right_high{}, false);", left, right);
    m_code.line("products(left_high{}, right_low{}, true);", left, right);
    m_code.line("products(left_high{}, right_high{}, true);", left, right);
    m_code.line("closeProducts();");
    if (takesTurns) {
      m_code.line("giveTurn({});",
                  m_tiles.groups() == 2 ? "1 - group" : fmt::format("(group + 1) % {}", m_tiles.groups()));
    }
    m_code.line("waitForProducts<0>(fresh);");
  }

  // --- results
  [[nodiscard]] bool copiesRows() const { return isCut() || m_storesRows; }
  // Whether the results are the sums, with nothing computed from them.
  [[nodiscard]] bool storesSums() const {
    return isCut() ||
           m_region.prims[static_cast<std::size_t>(m_region.groupStores.front().prim)].kind == Prim::Kind::Folded;
  }

  void store() {
    m_code.comment(copiesRows() ? "Sums change places within a warp, which then has the copy engine write its rows."
                                : "Sums change places within a warp, so that it writes whole lines of memory.");
    m_code.line("const int first_row = tile.row + warp * 16, first_column = tile.column{};",
                isBatched() ? ", batch = tile.batch" : "");
    if (isBatched()) {
      m_writer.decode("batch", m_shape.batch);
    }
    if (copiesRows()) {
      m_code.line("waitForStores();  // of the tile before");
    }
    m_code.line("__syncwarp();");
    openPieces("i", m_tiles.sums());
    m_code.line("rows[(lane / 4 + i / 2 % 2 * 8) * {} + i / 4 * 8 + lane % 4 * 2 + i % 2] = sum[i] * {}f;",
                m_tiles.stagedStride(), 1.0 / static_cast<double>(std::int64_t{1} << (2 * kOnepassScale)));
    m_code.close();
    if (!copiesRows() || !storesSums()) {
      m_code.line("__syncwarp();");
      computeResults();
    }
    if (copiesRows()) {
      copyRows();
    }
  }

  [[nodiscard]] bool hasRowTail() const { return m_shape.rowCount % m_tiles.rows != 0; }
  [[nodiscard]] bool hasColumnTail() const { return m_shape.columnCount % m_tiles.columns != 0; }

  void bindSum(const std::string& value) {
    for (std::size_t prim = 0; prim < m_region.prims.size(); ++prim) {
      if (m_region.prims[prim].kind == Prim::Kind::Folded) {
        m_writer.bind(static_cast<int>(prim), {value});
      }
    }
    m_writer.compute(storedPrims(m_region.groupStores));
  }

  void computeResults() {
    const KernelWriter::Scope outside = m_writer.scope();
    openPieces("c", m_tiles.columns / 32);
    m_code.line("const int column = first_column + c * 32 + lane;");
    if (hasColumnTail()) {
      m_code.open("if (column < {})", m_shape.columnCount);
    }
    m_writer.decode("column", m_shape.columns);
    openPieces("r", 16);
    m_code.line("const int row = {};", clamped("first_row + r", m_shape.rowCount - 1, hasRowTail()));
    m_writer.decode("row", m_shape.rows);
    const std::string place = fmt::format("rows[r * {} + c * 32 + lane]", m_tiles.stagedStride());
    bindSum(place);
    if (copiesRows()) {
      m_writer.storeAt(place, m_region.groupStores.front());
    } else {
      if (hasRowTail()) {
        m_code.open("if (first_row + r < {})", m_shape.rowCount);
      }
      m_writer.store(m_region.groupStores);
      if (hasRowTail()) {
        m_code.close();
      }
    }
    m_code.close();
    if (hasColumnTail()) {
      m_code.close();
    }
    m_code.close();
    m_writer.leave(outside);
  }

  void copyRows() {
    const KernelWriter::Scope outside = m_writer.scope();
    const std::int64_t width = isCut() ? partStride(m_shape) : m_shape.columnCount;
    m_code.line("publishShared();");
    m_code.line("__syncwarp();");
    m_code.line("const int row = first_row + lane;");
    m_code.open("if (lane < 16{})", hasRowTail() ? fmt::format(" && row < {}", m_shape.rowCount) : "");
    std::string to;
    if (isCut()) {
      const std::string part = isBatched() ? fmt::format("(tile.part * {} + batch)", m_shape.batchCount) : "tile.part";
      to = fmt::format("partial + ({} * {}LL + row) * {} + first_column", part, m_shape.rowCount, width);
    } else {
      m_writer.decode("row", m_shape.rows);
      m_writer.decode("first_column", m_shape.columns);
      to = "&" + m_writer.element(m_region.operands[static_cast<std::size_t>(m_region.groupStores.front().operand)]);
    }
    m_code.line("storeRow({}, rows + lane * {}, {});", to, m_tiles.stagedStride(),
                width % m_tiles.columns == 0 ? fmt::format("{}", m_tiles.columns * 4)
                                             : fmt::format("min({}, {} - first_column) * 4", m_tiles.columns, width));
    m_code.close();
    m_writer.leave(outside);
  }

  // --- the last kernel
  void writeFinish(const std::string& entry) {
    m_code.comment(fmt::format(
        "{}A result whose row or column had its largest magnitude outside of what halves hold well, infinities among "
        "them, is made anew from floats.",
        isCut() ? "Adds the parts of each sum up, and computes what follows. "
                : "Most often there is nothing to do. "));
    m_code.open("extern \"C\" __global__ void __launch_bounds__(256) {}({})", entry, parameters(false));
    if (isCut()) {
      openEachResult();
    } else {
      openOddResults();
    }
    if (isBatched()) {
      m_writer.decode("batch", m_shape.batch);
    }
    m_writer.decode("row", m_shape.rows);
    m_writer.decode("column", m_shape.columns);
    m_code.line("float total = 0.0f;");
    if (isCut()) {
      m_code.open("if (is_exact)");
    }
    addExactly();
    if (isCut()) {
      m_code.otherwise();
      addParts();
      m_code.close();
    }
    bindSum("total");
    m_writer.store(m_region.groupStores);
    m_code.close();
    m_code.close();
  }

  [[nodiscard]] static std::string largestOf(const OnepassSource& source, const std::string& line) {
    return fmt::format("largest_of[{}{}{}]", source.firstLargest > 0 ? fmt::format("{} + ", source.firstLargest) : "",
                       source.batch > 1 ? fmt::format("batch * {} + ", source.count) : "", line);
  }

  void openEachResult() {
    const std::int64_t each = m_shape.rowCount * m_shape.columnCount;
    m_code.open("for (int i = blockIdx.x * 256 + threadIdx.x; i < {}; i += gridDim.x * 256)",
                m_shape.batchCount * each);
    if (isBatched()) {
      m_code.line("const int batch = i / {};", each);
    }
    m_code.line("const int row = i / {}{};", m_shape.columnCount,
                isBatched() ? fmt::format(" % {}", m_shape.rowCount) : "");
    m_code.line("const int column = i % {};", m_shape.columnCount);
    m_code.line("const bool is_exact = isOutOfRange({}) || isOutOfRange({});", largestOf(m_left, "row"),
                largestOf(m_right, "column"));
  }

  void openOddResults() {
    const std::int64_t rows = m_schedule.finishRows;
    const std::int64_t chunks = (m_shape.rowCount + rows - 1) / rows;
    if (isBatched()) {
      m_code.line("const int batch = blockIdx.x / {};", chunks);
    }
    m_code.line("const int first_row = blockIdx.x{} * {};", isBatched() ? fmt::format(" % {}", chunks) : "", rows);
    std::string count = fmt::format("{}", rows);
    if (m_shape.rowCount % rows != 0) {
      m_code.line("const int rows = min({}, {} - first_row);", rows, m_shape.rowCount);
      count = "rows";
    }
    m_code.line("int is_any = threadIdx.x < {} && isOutOfRange({});", count,
                largestOf(m_left, "first_row + threadIdx.x"));
    m_code.pragma("#pragma unroll 8");
    m_code.open("for (int column = threadIdx.x; column < {}; column += 256)", m_shape.columnCount);
    m_code.line("is_any |= isOutOfRange({});", largestOf(m_right, "column"));
    m_code.close();
    m_code.open("if (__syncthreads_or(is_any) == 0)");
    m_code.line("return;");
    m_code.close();
    m_code.open("for (int i = threadIdx.x; i < {} * {}; i += 256)", count, m_shape.columnCount);
    m_code.line("const int row = first_row + i / {};", m_shape.columnCount);
    m_code.line("const int column = i % {};", m_shape.columnCount);
    m_code.open("if (!isOutOfRange({}) && !isOutOfRange({}))", largestOf(m_left, "row"), largestOf(m_right, "column"));
    m_code.line("continue;");
    m_code.close();
  }

  // In chunks, so that errors do not grow with the depth.
  void addExactly() {
    constexpr std::int64_t kChunk = 128;
    const KernelWriter::Scope outside = m_writer.scope();
    m_code.open("for (int first = 0; first < {}; first += {})", m_shape.depthCount, kChunk);
    m_code.line("float of_chunk = 0.0f;");
    m_code.open("for (int depth = first; depth < {}; ++depth)",
                m_shape.depthCount % kChunk == 0 ? fmt::format("first + {}", kChunk)
                                                 : fmt::format("min(first + {}, {})", kChunk, m_shape.depthCount));
    m_writer.decode("depth", m_shape.depth);
    m_writer.compute({m_left.prim, m_right.prim});
    m_code.line("of_chunk += {} * {};", operand(m_writer.value(m_left.prim), Expression::Term),
                operand(m_writer.value(m_right.prim), Expression::Term, swage::synth::Side::Right));
    m_code.close();
    m_code.line("total += of_chunk;");
    m_code.close();
    m_writer.leave(outside);
  }

  void addParts() {
    const std::int64_t part = m_shape.batchCount * m_shape.rowCount * partStride(m_shape);
    const std::string row = isBatched() ? fmt::format("(batch * {} + row)", m_shape.rowCount) : "row";
    m_code.line("const float* const of = partial + {} * {}LL + column;", row, partStride(m_shape));
    m_code.line("float sum[4] = {{}};  // of every fourth part");
    m_code.pragma("#pragma unroll 4");
    m_code.open("for (int part = 0; part < {}; ++part)", m_schedule.parts);
    m_code.line("sum[part % 4] += of[part * {}LL];", part);
    m_code.close();
    m_code.line("total = (sum[0] + sum[1]) + (sum[2] + sum[3]);");
  }

  const Region& m_region;
  ProductShape m_shape;
  OnepassTiles m_tiles;
  OnepassSchedule m_schedule;
  OnepassSource m_left;
  OnepassSource m_right;
  int m_number;
  KernelWriter m_writer;
  Code& m_code;
  bool m_storesRows;
};

}  // namespace

KernelText writeOnepassProduct(const Instance& instance, const Launch& launch, int number) {
  return OnepassText(instance, *productShape(instance.region), number).run(launch);
}

}  // namespace swage::synth
