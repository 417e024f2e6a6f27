// SPDX-License-Identifier: Apache-2.0
// The kernels of products by wgmma as text.
#include <algorithm>
#include <set>

#include "core/synth/sizes.h"
#include "core/synth/strategies/product_wgmma.h"

namespace swage::synth {
namespace {

using domain::NumericMode;
using Kind = LaunchArgument::Kind;
using Side = WgmmaSource::Side;

// Writes the passes and the product.
class WgmmaText {
 public:
  WgmmaText(const Instance& instance, ProductShape shape, int number)
      : m_region(instance.region),
        m_shape(std::move(shape)),
        m_tiles(instance),
        m_schedule(m_shape, m_tiles, instance.device.multiprocessors),
        m_left(*wgmmaSource(instance, m_shape, m_tiles, Side::Left)),
        m_right(*wgmmaSource(instance, m_shape, m_tiles, Side::Right)),
        m_number(number),
        m_writer(instance, Dialect::of(domain::Language::CudaCpp),
                 {"exact",     "has_infinity", "sum",      "fresh",      "rows",       "columns",
                  "row",       "column",       "depth",    "batch",      "lane",       "group",
                  "rank",      "slot",         "phase",    "high",       "low",        "previous",
                  "root",      "product",      "full",     "empty",      "tile",       "step",
                  "first_row", "first_column", "whole",    "start",      "left_root",  "to",
                  "turned",    "warp",         "r",        "c",          "v",          "i",
                  "place",     "line",         "of",       "planes",     "roots",      "left",
                  "right",     "partial",      "counters", "left_roots", "right_roots"}),
        m_code(m_writer.code()) {}

  KernelText run(const Launch& launch) {
    std::vector<std::vector<LaunchArgument>> arguments;
    if (m_tiles.isSplit()) {
      for (const WgmmaSource* source : {&m_left, &m_right}) {
        arguments.push_back(writePass(*source, arguments.empty() ? launch.step.entry : launch.more[0].entry));
      }
    } else if (m_schedule.rest > 0) {
      arguments.push_back(writeClear(launch.step.entry));
    }
    writeWarpGroupMultiply(m_code, m_number, {m_tiles.columns, typeText(), m_left.isAlongDepth, m_right.isAlongDepth});
    writeFind();
    arguments.push_back(writeProduct(launch.more.empty() ? launch.step.entry : launch.more.back().entry));
    KernelText text = m_writer.finish();
    text.arguments = std::move(arguments);
    return text;
  }

 private:
  // --- arguments
  [[nodiscard]] std::size_t countersScratch() const { return m_tiles.isSplit() ? 5 : 1; }
  [[nodiscard]] std::int64_t counterCount() const { return m_schedule.rest * m_tiles.cluster * m_tiles.groups(); }
  [[nodiscard]] std::string countersParameter() const {
    return m_schedule.rest > 0 ? ", int* __restrict__ counters" : "";
  }

  // "x = static_cast<const float*>(…)": what lets the compiler join accesses to neighbours.
  void alignBuffers(const std::vector<std::size_t>& places) {
    for (const std::size_t place : places) {
      const KernelBuffer& buffer = m_writer.buffers()[place];
      const auto operand = std::find_if(m_region.operands.begin(), m_region.operands.end(), [&](const Operand& each) {
        return each.value == buffer.value && each.output == buffer.output;
      });
      m_code.line("{0} = static_cast<{1}{2}*>(__builtin_assume_aligned({0}, 16));", m_writer.parameterOf(*operand),
                  buffer.output ? "" : "const ", m_writer.dialect().storageName(operand->dtype));
    }
  }

  // --- passes
  std::vector<LaunchArgument> writePass(const WgmmaSource& source, const std::string& entry) {
    const std::set<std::size_t> used = m_writer.buffersOf(source.prim);
    const std::vector<std::size_t> places(used.begin(), used.end());
    const bool isFirst = source.side == Side::Left;
    const KernelWriter::Scope outside = m_writer.scope();
    m_code.comment(passComment(source));
    m_code.open(
        "extern \"C\" __global__ void __launch_bounds__(256) {}({}, Half* __restrict__ planes, "
        "float* __restrict__ roots{})",
        entry, m_writer.parameters(places), isFirst ? countersParameter() : "");
    alignBuffers(places);
    m_code.line("planes = static_cast<Half*>(__builtin_assume_aligned(planes, 16));");
    if (isFirst && m_schedule.rest > 0) {
      m_code.open("for (int i = blockIdx.x * 256 + threadIdx.x; i < {}; i += gridDim.x * 256)", counterCount());
      m_code.line("counters[i] = 0;");
      m_code.close();
    }
    writeSplit(source);
    m_code.close();
    m_code.blank();
    m_writer.leave(outside);
    std::vector<LaunchArgument> arguments;
    for (const std::size_t place : places) {
      arguments.push_back({Kind::Buffer, place});
    }
    arguments.push_back({Kind::Scratch, isFirst ? 0U : 2U});
    arguments.push_back({Kind::Scratch, isFirst ? 1U : 3U});
    if (isFirst && m_schedule.rest > 0) {
      arguments.push_back({Kind::Scratch, countersScratch()});
    }
    return arguments;
  }

  [[nodiscard]] std::string passComment(const WgmmaSource& source) const {
    return fmt::format("Each {} of the {} operand, scaled by a power of four, {}. A {} takes {}{} {}s.", source.line,
                       source.side == Side::Left ? "left" : "right",
                       m_tiles.parts() == 2 ? "as two halves, high + low" : "rounded to halves",
                       source.splitBlocks > 1 ? fmt::format("cluster of {} blocks", source.splitBlocks) : "block",
                       source.splitLines, source.isAlongDepth ? "" : " neighbouring", source.line);
  }

  void writeSplit(const WgmmaSource& source) {
    const bool isBatched = source.batch > 1;
    const std::int64_t blocks = source.lineBlocks() * source.splitBlocks;
    if (isBatched) {
      m_code.line("const int batch = blockIdx.x / {};", blocks);
      m_writer.decode("batch", m_shape.batch);
    }
    const bool isLarge = source.plane * source.batch * m_tiles.parts() > kLargestInt;
    const std::string major = source.isAlongDepth ? "line" : "depth";
    m_code.line("const int start = blockIdx.x{}{} * {};", isBatched ? fmt::format(" % {}", blocks) : "",
                source.splitBlocks > 1 ? fmt::format(" / {}", source.splitBlocks) : "", source.splitLines);
    m_code.open("const auto element = [&](int {}, int depth)", source.line);
    m_writer.decode(source.line, *source.axes);
    m_writer.decode("depth", m_shape.depth);
    m_writer.compute({source.prim});
    m_code.line("return {};", m_writer.value(source.prim).text);
    m_code.close(";");
    m_code.line("const auto place = [&](int line, int depth) {{ return {}{}{} * {} + {}; }};",
                isBatched ? fmt::format("batch * {}{} + ", source.plane, isLarge ? "LL" : "") : "",
                isLarge ? "(long long)" : "", major, source.stride, source.isAlongDepth ? "depth" : "line");
    m_code.line("splitLines<{}, {}, {}, {}, {}, {}>(start, {}, {}, planes, {}, roots{}, element, place);",
                source.splitLines, source.splitDepth, source.width, source.splitBlocks, m_tiles.parts(),
                source.isAlongDepth ? "true" : "false", source.lines, source.depth, source.plane * source.batch,
                isBatched ? fmt::format(" + batch * {}", source.lines) : "");
  }

  std::vector<LaunchArgument> writeClear(const std::string& entry) {
    m_code.open("extern \"C\" __global__ void __launch_bounds__(256) {}(int* __restrict__ counters)", entry);
    m_code.open("for (int i = threadIdx.x; i < {}; i += 256)", counterCount());
    m_code.line("counters[i] = 0;");
    m_code.close();
    m_code.close();
    m_code.blank();
    return {{Kind::Scratch, countersScratch()}};
  }

  // --- device functions
  [[nodiscard]] std::string typeText() const {
    const bool isBFloat16 = m_left.operand != nullptr && m_left.operand->dtype == domain::ScalarType::BFloat16;
    return isBFloat16 ? "bf16" : "f16";
  }

  // The tiles of a cluster, one after another.
  void writeFind() {
    const WgmmaSchedule& s = m_schedule;
    m_code.comment(findComment());
    m_code.open("struct Tile_{}", m_number);
    m_code.line("int {}row, column, first, last{};", m_shape.batchCount > 1 ? "batch, " : "",
                s.rest > 0 ? ", shared" : "");
    m_code.close(";");
    m_code.open("__device__ inline bool find_{0}(int i, Tile_{0}& tile)", m_number);
    m_code.line("const int place = blockIdx.x{};", m_tiles.cluster > 1 ? " / 2" : "");
    if (s.rest > 0) {
      m_code.line("const int begin = {}LL * place / {};", s.rest * s.steps, s.places);
      m_code.line("const int end = {}LL * (place + 1) / {};", s.rest * s.steps, s.places);
      m_code.line("const int at = i == 0 ? begin : (begin / {0} + i) * {0};", s.steps);
      m_code.line("const int pieces = (end - 1) / {0} - begin / {0} + 1;", s.steps);
      m_code.line("tile.shared = at < end ? at / {} : -1;", s.steps);
      m_code.line("tile.first = at < end ? at % {} : 0;", s.steps);
      m_code.line("tile.last = at < end ? min({0}, end - tile.shared * {0}) : {0};", s.steps);
      m_code.line("const int number = at < end ? {} + tile.shared : place + (i - pieces) * {};", s.whole, s.places);
    } else {
      m_code.line("tile.first = 0;");
      m_code.line("tile.last = {};", s.steps);
      m_code.line("const int number = place + i * {};", s.places);
    }
    locate();
    m_code.line("return number < {}{};", s.whole, s.rest > 0 ? " || at < end" : "");
    m_code.close();
    m_code.blank();
  }

  // Bands of tiles one after another, and in a band columns of tiles, so that what runs at once shares operands.
  void locate() {
    const WgmmaSchedule& s = m_schedule;
    const std::int64_t each = s.down * s.across;
    const std::int64_t band = std::min(m_tiles.band, s.down);
    const std::string in = m_shape.batchCount > 1 ? fmt::format("number % {}", each) : "number";
    if (m_shape.batchCount > 1) {
      m_code.line("tile.batch = number / {};", each);
    }
    m_code.line("const int band = {} / {} * {};", in, band * s.across, band);
    m_code.line("const int down = {};",
                s.down % band == 0 ? fmt::format("{}", band) : fmt::format("min({}, {} - band)", band, s.down));
    const std::string row = fmt::format("(band + {} % {} % down)", in, band * s.across);
    m_code.line("tile.row = {} * {};", m_tiles.cluster > 1 ? fmt::format("({} * 2 + blockIdx.x % 2)", row) : row,
                m_tiles.rows);
    m_code.line("tile.column = {} % {} / down * {};", in, band * s.across, m_tiles.columns);
  }

  [[nodiscard]] std::string findComment() const {
    const WgmmaSchedule& s = m_schedule;
    if (s.rest == 0) {
      return fmt::format("The tile that a place ({} of {}) makes as number i: all {} steps of its sum.",
                         m_tiles.cluster > 1 ? "a cluster of two blocks" : "a block", s.places, s.steps);
    }
    return fmt::format(
        "What a place ({} of {}) makes as number i. First its share of the {} steps of the last {} tiles, cut where a "
        "tile ends; then whole tiles, so that all places end together.",
        m_tiles.cluster > 1 ? "a cluster of two blocks" : "a block", s.places, s.rest * s.steps, s.rest);
  }

  // --- the product
  [[nodiscard]] std::vector<std::size_t> storedBuffers() const {
    std::set<std::size_t> used;
    for (const Store& store : m_region.groupStores) {
      used.merge(m_writer.buffersOf(store.prim));
    }
    if (m_tiles.isSplit()) {  // for lines with an infinity
      used.merge(m_writer.buffersOf(m_left.prim));
      used.merge(m_writer.buffersOf(m_right.prim));
    }
    for (std::size_t i = 0; i < m_writer.buffers().size(); ++i) {
      if (m_writer.buffers()[i].output) {
        used.insert(i);
      }
    }
    return {used.begin(), used.end()};
  }

  std::vector<LaunchArgument> writeProduct(const std::string& entry) {
    const std::vector<std::size_t> places = storedBuffers();
    std::vector<LaunchArgument> arguments{{Kind::Map, 0}, {Kind::Map, 1}};
    for (const std::size_t place : places) {
      arguments.push_back({Kind::Buffer, place});
    }
    std::string scratch;
    if (m_tiles.isSplit()) {
      arguments.push_back({Kind::Scratch, 1});
      arguments.push_back({Kind::Scratch, 3});
      scratch = ", const float* __restrict__ left_roots, const float* __restrict__ right_roots";
    }
    if (m_schedule.rest > 0) {
      arguments.push_back({Kind::Scratch, countersScratch() - 1});
      arguments.push_back({Kind::Scratch, countersScratch()});
      scratch += ", float* partial, int* counters";
    }
    m_code.comment(productComment());
    m_code.open(
        "extern \"C\" __global__ void __launch_bounds__({}, 1) {}(const __grid_constant__ TensorMap left, "
        "const __grid_constant__ TensorMap right, {}{})",
        m_tiles.threads(), entry, m_writer.parameters(places), scratch);
    prepare();
    m_code.open("if (group == {})", m_tiles.groups());
    bring();
    m_code.otherwise();
    consume();
    m_code.close();
    if (m_tiles.cluster > 1) {
      m_code.line("clusterBarrier();  // nothing arrives at a block that has ended");
    }
    m_code.close();
    return arguments;
  }

  [[nodiscard]] std::string productComment() const {
    const std::string way = m_tiles.mode == NumericMode::Fp16x3
                                ? " as high * high + high * low + low * high"
                                : (m_tiles.mode == NumericMode::Fp16 ? " of floats rounded to halves" : "");
    const std::string promoted = m_tiles.promote > 0
                                     ? fmt::format(
                                           " Tensor cores cut off low bits when they add, so every {} their sums go "
                                           "into sums in float, the small products first.",
                                           m_tiles.promote * kWgmmaDepth)
                                     : "";
    return fmt::format(
        "A product of {} by {}, summed over {}{}, on tensor cores{}. A block makes tiles of {} by {}: {} warp groups "
        "multiply 64 rows each, one has the copy engine bring what they need, {} slots ahead.{}",
        m_shape.rowCount, m_shape.columnCount, extentsText(m_region, m_shape.depth),
        m_shape.batchCount > 1 ? fmt::format(", {} times", m_shape.batchCount) : "", way, m_tiles.rows, m_tiles.columns,
        m_tiles.groups(), m_tiles.slots, promoted);
  }

  void prepare() {
    const std::int64_t slots = m_tiles.slots;
    m_code.line("extern __shared__ unsigned char memory[];");
    m_code.line("__shared__ unsigned long long full[{0}], empty[{0}];  // barriers", slots);
    m_code.line("__shared__ __align__(16) float turned[{}][16][40];  // [warp][row][column], on different banks",
                m_tiles.groups() * 4);
    if (m_schedule.rest > 0) {
      m_code.line("__shared__ bool is_last[{}];", m_tiles.groups());
    }
    m_code.line("const unsigned int slots = (sharedAddress(memory) + 1023) / 1024 * 1024;  // as the swizzle needs");
    m_code.line("const int group = threadIdx.x / 128;");
    if (m_tiles.cluster > 1) {
      m_code.line("const int rank = blockIdx.x % 2;  // in its cluster");
    }
    m_code.open("if (threadIdx.x < {})", slots);
    m_code.line("initBarrier(sharedAddress(&full[threadIdx.x]), 1);");
    m_code.line("initBarrier(sharedAddress(&empty[threadIdx.x]), {});", m_tiles.groups() * m_tiles.cluster);
    m_code.line("asm volatile(\"fence.mbarrier_init.release.cluster;\" ::: \"memory\");");
    m_code.close();
    m_code.line("{}();", m_tiles.cluster > 1 ? "clusterBarrier" : "__syncthreads");
    m_code.line("Tile_{} tile;", m_number);
    m_code.line("int slot = 0, phase = 0;");
    m_code.open("const auto advance = [&]");
    m_code.line("const int now = slot;");
    m_code.line("slot = slot == {} ? 0 : slot + 1;", slots - 1);
    m_code.line("phase ^= slot == 0;");
    m_code.line("return now;");
    m_code.close(";");
  }

  void nameTile() {
    m_code.line("const int first_row = tile.row, first_column = tile.column{};",
                m_shape.batchCount > 1 ? ", batch = tile.batch" : "");
  }

  // --- the warp group that brings
  void bring() {
    m_code.comment("--- One thread asks the copy engine for the next tiles whenever all have done with a slot.");
    if (m_tiles.groups() > 1) {
      m_code.line("asm volatile(\"setmaxnreg.dec.sync.aligned.u32 {};\");", m_tiles.fewRegisters());
    }
    m_code.open("for (int i = 0; threadIdx.x % 128 == 0 && find_{}(i, tile); ++i)", m_number);
    nameTile();
    m_code.open("for (int step = tile.first; step < tile.last; ++step)");
    if (m_tiles.parts() == 2) {
      m_code.comment("The low halves, then the high ones.");
      m_code.open("for (int part = 1; part >= 0; --part)");
    }
    m_code.line("waitFor(sharedAddress(&empty[slot]), phase ^ 1);");
    m_code.line("const unsigned int ready = sharedAddress(&full[slot]);");
    m_code.line("const unsigned int to = slots + advance() * {};", m_tiles.slotBytes());
    m_code.line("expectBytes(ready, {});", m_tiles.slotBytes());
    bringSide(m_left);
    bringSide(m_right);
    if (m_tiles.parts() == 2) {
      m_code.close();
    }
    m_code.close();
    m_code.close();
  }

  void bringSide(const WgmmaSource& source) {
    const bool isLeft = source.side == Side::Left;
    const bool isForBoth = !isLeft && m_tiles.cluster > 1;
    const std::int64_t lines = isLeft ? m_tiles.rows : m_tiles.columns;
    const std::string call = isForBoth ? "bringTileToBoth" : "bringTile";
    std::string z = source.batch > 1 ? "batch" : "0";
    if (m_tiles.parts() == 2) {
      z = source.batch > 1 ? fmt::format("part * {} + batch", source.batch) : "part";
    }
    const std::string to = isLeft ? "to" : fmt::format("to + {}", m_tiles.leftBytes());
    const std::string map = isLeft ? "left" : "right";
    if (source.isAlongDepth) {
      const std::int64_t half = lines / m_tiles.cluster;
      m_code.line("{}({}{}, {}, ready, step * 64, first_{}{}, {});", call, to,
                  isForBoth ? fmt::format(" + rank * {}", half * 128) : "", map, source.line,
                  isForBoth ? fmt::format(" + rank * {}", half) : "", z);
      return;
    }
    m_code.pragma("#pragma unroll");
    m_code.open("for (int c = 0; c < {}; ++c)", lines / 64);
    m_code.line("{}({} + c * 8192{}, {}, ready, first_{} + c * 64, step * 64{}, {});", call, to,
                isForBoth ? " + rank * 4096" : "", map, source.line, isForBoth ? " + rank * 32" : "", z);
    m_code.close();
  }

  // --- the warp groups that multiply
  [[nodiscard]] bool takesTurns() const { return m_tiles.groups() > 1 && m_tiles.promote > 0; }
  [[nodiscard]] std::string accumulator() const { return m_tiles.promote > 0 ? "fresh" : "sum"; }

  void consume() {
    m_code.comment("--- The others multiply 64 rows of the tile each.");
    if (m_tiles.groups() > 1) {
      m_code.line("asm volatile(\"setmaxnreg.inc.sync.aligned.u32 {};\");", m_tiles.registers());
    }
    m_code.line("const int warp = threadIdx.x / 32;");
    m_code.line("const int lane = threadIdx.x % 32;");
    if (takesTurns()) {
      m_code.open("if (group == {})", m_tiles.groups() - 1);
      m_code.line("giveTurn(0);");
      m_code.close();
    }
    m_code.open("const auto release = [&](int done)");
    if (m_tiles.cluster > 1) {
      m_code.open("if (threadIdx.x % 128 < 2)");
      m_code.line("arriveAt(sharedAddress(&empty[done]), threadIdx.x % 128);  // in both blocks");
    } else {
      m_code.open("if (threadIdx.x % 128 == 0)");
      m_code.line("arriveAt(sharedAddress(&empty[done]), 0);");
    }
    m_code.close();
    m_code.close(";");
    m_code.open("for (int i = 0; find_{}(i, tile); ++i)", m_number);
    nameTile();
    m_code.line("float sum[{}]{};", m_tiles.sums(), m_tiles.promote > 0 ? " = {}" : "");
    if (m_tiles.promote > 0) {
      m_code.line("float fresh[{}];  // of the last {} of the sum", m_tiles.sums(), m_tiles.promote * kWgmmaDepth);
    } else {
      m_code.line("int previous = -1;");
    }
    writeProducts();
    m_code.open("for (int step = tile.first; step < tile.last; ++step)");
    multiplyStep();
    m_code.close();
    if (m_tiles.promote == 0) {
      m_code.line("waitForProducts<0>(sum);");
      m_code.line("release(previous);");
    }
    if (m_schedule.rest > 0) {
      share();
    }
    finish();
    m_code.close();
  }

  void takeSlot(const std::string& name) {
    m_code.line("waitFor(sharedAddress(&full[slot]), phase);");
    m_code.line("const int {} = advance();", name);
    for (const WgmmaSource* source : {&m_left, &m_right}) {
      const bool isLeft = source->side == Side::Left;
      m_code.line("const unsigned long long {}_{} = tileDescriptor(slots + {} * {} + {});", isLeft ? "left" : "right",
                  name, name, m_tiles.slotBytes(), isLeft ? "group * 8192" : fmt::format("{}", m_tiles.leftBytes()));
    }
  }

  void multiplyStep() {
    if (m_tiles.parts() == 2) {
      takeSlot("low");
    }
    takeSlot("high");
    if (takesTurns()) {
      m_code.line("takeTurn(group);");
    }
    m_code.line("openProducts({});", accumulator());
    if (m_tiles.parts() == 2) {
      multiplyParts("low", "high", keepText());
      multiplyParts("high", "low", "true");
      m_code.line("closeProducts();");
    }
    multiplyParts("high", "high", m_tiles.parts() == 2 ? "true" : keepText());
    m_code.line("closeProducts();");
    if (takesTurns()) {
      m_code.line("giveTurn({});",
                  m_tiles.groups() == 2 ? "1 - group" : fmt::format("(group + 1) % {}", m_tiles.groups()));
    }
    if (m_tiles.promote == 0) {
      m_code.line("waitForProducts<1>(sum);");
      m_code.open("if (previous >= 0)");
      m_code.line("release(previous);");
      m_code.close();
      m_code.line("previous = high;");
      return;
    }
    m_code.line("waitForProducts<1>(fresh);");
    m_code.line("release(low);");
    m_code.line("waitForProducts<0>(fresh);");
    m_code.line("release(high);");
    promote();
  }

  // Whether the first product of a step adds to what is there.
  [[nodiscard]] std::string keepText() const {
    if (m_tiles.promote == 0) {
      return "step > tile.first";
    }
    return m_tiles.promote == 1 ? "false" : fmt::format("(step - tile.first) % {} != 0", m_tiles.promote);
  }

  void multiplyParts(const std::string& left, const std::string& right, const std::string& keep) {
    m_code.line("products(left_{}, right_{}, {});", left, right, keep);
  }

  // Over 64 of the sum, 16 at a time.
  void writeProducts() {
    const auto advance = [](const WgmmaSource& source) { return source.isAlongDepth ? 32 / 16 : 2048 / 16; };
    m_code.open("const auto products = [&](unsigned long long left, unsigned long long right, bool keep)");
    m_code.pragma("#pragma unroll");
    m_code.open("for (int k = 0; k < 4; ++k)");
    m_code.line("multiply_{}({}, left + k * {}, right + k * {}, k > 0 || keep);", m_number, accumulator(),
                advance(m_left), advance(m_right));
    m_code.close();
    m_code.close(";");
  }

  void promote() {
    const bool isEach = m_tiles.promote == 1;
    if (!isEach) {
      m_code.open("if ((step - tile.first) % {0} == {1} || step == tile.last - 1)", m_tiles.promote,
                  m_tiles.promote - 1);
    }
    m_code.pragma("#pragma unroll");
    m_code.open("for (int i = 0; i < {}; ++i)", m_tiles.sums());
    m_code.line("sum[i] += fresh[i];");
    m_code.close();
    if (!isEach) {
      m_code.close();
    }
  }

  // Sums of a shared tile go through memory; who comes last adds them up, in order.
  void share() {
    const WgmmaSchedule& s = m_schedule;
    const std::int64_t sums = m_tiles.sums();
    const std::int64_t groups = m_tiles.cluster * m_tiles.groups();
    const std::string mine = m_tiles.cluster > 1 ? fmt::format("rank * {} + group", m_tiles.groups()) : "group";
    m_code.open("if (tile.shared >= 0)");
    m_code.comment("Part of a tile: what was found goes into memory, and who comes last adds it up, in order.");
    m_code.line("const int first = ((tile.shared * {}LL + 1) * {} - 1) / {};  // places that have a part", s.steps,
                s.places, s.rest * s.steps);
    m_code.line("const int last = ((tile.shared + 1) * {}LL * {} - 1) / {};", s.steps, s.places, s.rest * s.steps);
    m_code.line("float* const of = partial + (tile.shared * {} + {}) * {}LL + threadIdx.x % 128;", groups, mine,
                sums * 128);
    m_code.pragma("#pragma unroll");
    m_code.open("for (int i = 0; i < {}; ++i)", sums);
    m_code.line("__stcg(of + {} * {}LL + i * 128, sum[i]);", m_tiles.cluster > 1 ? "blockIdx.x / 2" : "blockIdx.x",
                groups * sums * 128);
    m_code.close();
    m_code.line("__threadfence();");
    m_code.line("syncGroup(group);");
    m_code.open("if (threadIdx.x % 128 == 0)");
    m_code.line("is_last[group] = atomicAdd(&counters[tile.shared * {} + {}], 1) == last - first;", groups, mine);
    m_code.close();
    m_code.line("syncGroup(group);");
    m_code.open("if (!is_last[group])");
    m_code.line("continue;");
    m_code.close();
    m_code.line("__threadfence();");
    m_code.open("for (int part = first; part <= last; ++part)");
    m_code.pragma("#pragma unroll");
    m_code.open("for (int i = 0; i < {}; ++i)", sums);
    m_code.line("sum[i] = (part == first ? 0.0f : sum[i]) + __ldcg(of + part * {}LL + i * 128);", groups * sums * 128);
    m_code.close();
    m_code.close();
    m_code.close();
  }

  // --- results
  void finish() {
    const bool hasRowTail = m_shape.rowCount % (m_tiles.rows * m_tiles.cluster) != 0;
    const bool hasColumnTail = m_shape.columnCount % m_tiles.columns != 0;
    if (m_shape.batchCount > 1) {
      m_writer.decode("batch", m_shape.batch);
    }
    m_code.comment(
        "The results, with what follows the product: 32 columns at a time change places within a warp, so "
        "that it writes whole lines of memory.");
    if (m_tiles.isSplit()) {
      m_code.line("const bool has_infinity = __any_sync(0xffffffffu, left_roots[{}] < 0.0f);",
                  index(m_left, rowText("lane % 16")));
    }
    m_code.pragma("#pragma unroll");
    m_code.open("for (int c = 0; c < {}; c += 4)", m_tiles.columns / 8);
    turn();
    m_code.line("const int column = first_column + c * 8 + lane;");
    if (hasColumnTail) {
      m_code.open("if (column < {})", m_shape.columnCount);
    }
    m_writer.decode("column", m_shape.columns);
    if (m_tiles.isSplit()) {
      addInfinities();
    }
    m_code.pragma("#pragma unroll");
    m_code.open("for (int r = 0; r < 16; ++r)");
    m_code.line("const int row = {};", rowText("r"));
    computeResult();
    if (hasRowTail) {
      m_code.open("if (row == first_row + warp * 16 + r)");
    }
    m_writer.store(m_region.groupStores);
    for (int open = hasRowTail ? 1 : 2; open < (hasColumnTail ? 5 : 4); ++open) {
      m_code.close();
    }
  }

  // A thread has two rows and pairs of columns 8 apart; it gets one column of all 16 rows of its warp.
  void turn() {
    m_code.line("__syncwarp();");
    m_code.pragma("#pragma unroll");
    m_code.open("for (int i = 0; i < 16; ++i)");
    m_code.line("turned[warp][lane / 4 + i / 2 % 2 * 8][i / 4 * 8 + lane % 4 * 2 + i % 2] = sum[c * 4 + i];");
    m_code.close();
    m_code.line("__syncwarp();");
  }

  // A row of the warp, or the last of the matrix.
  [[nodiscard]] std::string rowText(const std::string& inWarp) const {
    const std::string row = "first_row + warp * 16 + " + inWarp;
    const bool hasTail = m_shape.rowCount % (m_tiles.rows * m_tiles.cluster) != 0;
    return hasTail ? fmt::format("min({}, {})", row, m_shape.rowCount - 1) : row;
  }

  // Of the root of a line.
  [[nodiscard]] static std::string index(const WgmmaSource& source, const std::string& line) {
    return source.batch > 1 ? fmt::format("batch * {} + {}", source.lines, line) : line;
  }

  // What halves cannot say: these sums, infinities or NaN, take the place of what the tensor cores have found.
  void addInfinities() {
    const std::string right = fmt::format("right_roots[{}] < 0.0f", index(m_right, "column"));
    const KernelWriter::Scope outside = m_writer.scope();
    m_code.comment("Of lines with an infinity, sums of floats take the place of what halves have made.");
    m_code.open("if (has_infinity || {})", right);
    m_code.pragma("#pragma unroll 1");
    m_code.open("for (int r = 0; r < 16; ++r)");
    m_code.line("const int row = {};", rowText("r"));
    m_code.open("if (left_roots[{}] < 0.0f || {})", index(m_left, "row"), right);
    m_writer.decode("row", m_shape.rows);
    m_code.line("float exact = 0.0f;");
    m_code.pragma("#pragma unroll 1");
    m_code.open("for (int depth = 0; depth < {}; ++depth)", m_shape.depthCount);
    m_writer.decode("depth", m_shape.depth);
    m_writer.compute({m_left.prim, m_right.prim});
    m_code.line("exact += {} * {};", operand(m_writer.value(m_left.prim), Expression::Term),
                operand(m_writer.value(m_right.prim), Expression::Term, swage::synth::Side::Right));
    m_code.close();
    m_code.line("turned[warp][r][lane] = exact;");
    m_code.close();
    m_code.close();
    m_code.close();
    m_writer.leave(outside);
  }

  void computeResult() {
    m_writer.decode("row", m_shape.rows);
    std::string value = "turned[warp][r][lane]";
    if (m_tiles.isSplit()) {
      m_code.line("const float root = left_roots[{}] * right_roots[{}];", index(m_left, "row"),
                  index(m_right, "column"));
      m_code.line("const float product = {} * root * root;", value);
      value = "product";
    }
    for (std::size_t prim = 0; prim < m_region.prims.size(); ++prim) {
      if (m_region.prims[prim].kind == Prim::Kind::Folded) {
        m_writer.bind(static_cast<int>(prim), {value});
      }
    }
    m_writer.compute(storedPrims(m_region.groupStores));
  }

  const Region& m_region;
  ProductShape m_shape;
  WgmmaTiles m_tiles;
  WgmmaSchedule m_schedule;
  WgmmaSource m_left;
  WgmmaSource m_right;
  int m_number;
  KernelWriter m_writer;
  Code& m_code;
};

// A list of the sums of a thread in lines; `quote` where each line is a literal.
void writeSums(Code& code, std::int64_t sums, std::string_view quote, std::string_view before, std::string_view after,
               std::int64_t perLine) {
  for (std::int64_t first = 0; first < sums; first += perLine) {
    std::string line;
    for (std::int64_t i = first; i < std::min(sums, first + perLine); ++i) {
      line += fmt::format("{}{}{}{}", before, i, after, i + 1 < sums ? "," : "");
    }
    code.line("    {0}{1}{0}", quote, line);
  }
}

}  // namespace

void writeWarpGroupMultiply(Code& code, int number, const WarpGroupMultiply& multiply) {
  writeWarpGroupMultiply(code, fmt::format("multiply_{}", number), multiply);
}

void writeWarpGroupMultiply(Code& code, const std::string& function, const WarpGroupMultiply& multiply) {
  const std::int64_t sums = multiply.columns / 2;
  const bool inRegisters = multiply.isLeftInRegisters;
  const std::int64_t right = sums + (inRegisters ? 4 : 1);  // number of its operand
  code.comment(fmt::format(
      "64 rows{} times {} columns over 16 of the sum, by the 128 threads of a warp group: added to the sums "
      "where `keep`, else instead of them.",
      inRegisters ? " in registers" : "", multiply.columns));
  code.open("__device__ inline void {}(float (&s)[{}], {}, unsigned long long right, int keep)", function, sums,
            inRegisters ? "const unsigned int (&left)[4]" : "unsigned long long left");
  code.line("asm volatile(\"{{.reg .pred keep; setp.ne.b32 keep, %{}, 0;\\n\"", right + 1);
  code.line("    \"wgmma.mma_async.sync.aligned.m64n{0}k16.f32.{1}.{1}\\n\"", multiply.columns, multiply.type);
  code.line("    \"{{\"");
  writeSums(code, sums, "\"", "%", "", 20);
  const int isTurned = multiply.isRightAlongDepth ? 0 : 1;
  if (inRegisters) {
    code.line("    \"}}, {{%{}, %{}, %{}, %{}}}, %{}, keep, 1, 1, {};}}\" :", sums, sums + 1, sums + 2, sums + 3, right,
              isTurned);
  } else {
    code.line("    \"}}, %{}, %{}, keep, 1, 1, {}, {};}}\" :", sums, right, multiply.isLeftAlongDepth ? 0 : 1,
              isTurned);
  }
  writeSums(code, sums, "", "\"+f\"(s[", "])", 9);
  code.line("    : {}, \"l\"(right), \"r\"(keep));",
            inRegisters ? "\"r\"(left[0]), \"r\"(left[1]), \"r\"(left[2]), \"r\"(left[3])" : "\"l\"(left)");
  code.close();
  code.blank();
}

KernelText writeWgmmaProduct(const Instance& instance, const Launch& launch, int number) {
  return WgmmaText(instance, *productShape(instance.region), number).run(launch);
}

}  // namespace swage::synth
