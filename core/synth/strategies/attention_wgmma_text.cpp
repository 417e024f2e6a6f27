// SPDX-License-Identifier: Apache-2.0
// The kernel of attention by wgmma as text.
#include "core/synth/strategies/attention_wgmma.h"

#include <algorithm>
#include <set>

#include "core/synth/sizes.h"
#include "core/synth/strategies/product_wgmma.h"

namespace swage::synth {
namespace {

// Names that the kernel gives to its variables.
const std::initializer_list<std::string_view> kWarpGroupNames{
    "queries",    "keys",        "values",    "shared",     "barriers", "query_tile",
    "key_tiles",  "value_tiles", "has_query", "no_query",   "has_keys", "no_keys",
    "has_values", "no_values",   "group",     "tile",       "slot",     "step",
    "phase",      "advance",     "lane",      "warp",       "release",  "query",
    "score",      "total",       "weight",    "weights",    "largest",  "remaining",
    "makeScores", "addValues",   "before",    "mask",       "weigh",    "is_less",
    "first_row",  "first_key",   "batch",     "row",        "column",   "key",
    "value",      "changed",     "most",      "base",       "sum",      "shorten",
    "shrink",     "pairs",       "i",         "k",          "c",        "h",
    "j",          "b",           "of",        "keep",       "barrier",  "changeScores",
    "next",       "taken",       "number",    "bringPieces"};

class WarpGroupAttention {
 public:
  WarpGroupAttention(const Instance& instance, AttentionShape shape, int number)
      : m_region(instance.region),
        m_shape(std::move(shape)),
        m_tiles(instance, m_shape),
        m_schedule(instance, m_shape, m_tiles),
        m_query(*attentionMap(m_region, m_shape, m_shape.query)),
        m_key(*attentionMap(m_region, m_shape, m_shape.key)),
        m_value(*attentionMap(m_region, m_shape, m_shape.value)),
        m_number(number),
        m_writer(instance, Dialect::of(domain::Language::CudaCpp), kWarpGroupNames),
        m_code(m_writer.code()) {
    m_writer.numberApart();
  }

  KernelText run(const Launch& launch) {
    writeWarpGroupMultiply(m_code, fmt::format("scores_{}", m_number), {m_tiles.keys, typeText(), true, true, false});
    writeWarpGroupMultiply(m_code, fmt::format("values_{}", m_number),
                           {m_tiles.columns, typeText(), true, false, true});
    writeFind();
    writeKernel(launch.step.entry);
    std::vector<LaunchArgument> arguments;
    for (std::size_t map = 0; map < launch.maps.size(); ++map) {
      arguments.push_back({LaunchArgument::Kind::Map, map});
    }
    for (const std::size_t buffer : usedBuffers()) {
      arguments.push_back({LaunchArgument::Kind::Buffer, buffer});
    }
    if (m_schedule.isTaken) {
      arguments.push_back({LaunchArgument::Kind::Scratch, 0});
    }
    KernelText text = m_writer.finish();
    text.arguments = {std::move(arguments)};
    return text;
  }

 private:
  [[nodiscard]] bool isHalf() const { return m_query.operand->dtype == domain::ScalarType::Float16; }
  [[nodiscard]] std::string typeText() const { return isHalf() ? "f16" : "bf16"; }
  [[nodiscard]] std::string packing() const { return isHalf() ? "packHalves" : "packBFloat16s"; }
  [[nodiscard]] bool isBatched() const { return m_shape.batchCount > 1; }
  // Whether scores are products times a number, which the powers of two then take in.
  [[nodiscard]] bool isPlain() const { return m_tiles.isPlain; }
  [[nodiscard]] double inExponent() const { return isPlain() ? m_shape.factor * kLog2E : kLog2E; }
  [[nodiscard]] std::int64_t steps() const { return divideUp(m_shape.keyCount, m_tiles.keys); }
  [[nodiscard]] std::string stepsText() const { return m_shape.isCausal ? "tile.steps" : std::to_string(steps()); }
  static std::string number(double value) {
    return Dialect::of(domain::Language::CudaCpp).constant(value, Compute::F32);
  }

  // Those of masks, biases and what follows, and the results: queries, keys and values come by maps.
  [[nodiscard]] std::vector<std::size_t> usedBuffers() const {
    std::set<std::size_t> used = m_writer.buffersOf(m_shape.score);
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

  // --- which tiles a block makes
  void writeFind() {
    const AttentionSchedule& s = m_schedule;
    const std::int64_t rows = m_tiles.rows();
    m_code.comment(findComment());
    m_code.open("struct Tile_{}", m_number);
    m_code.line("int {}row{};", isBatched() ? "batch, " : "", m_shape.isCausal ? ", steps" : "");
    m_code.close(";");
    m_code.open("__device__ inline bool find_{0}(int number, Tile_{0}& tile)", m_number);
    if (m_shape.isCausal) {
      findCausal();
    } else {
      m_code.line("tile.row = {} * {};", isBatched() ? fmt::format("number % {}", s.down) : "number", rows);
      if (isBatched()) {
        m_code.line("tile.batch = number / {};", s.down);
      }
    }
    m_code.line("return number < {};", s.tiles);
    m_code.close();
    m_code.blank();
  }

  void findCausal() {
    const AttentionSchedule& s = m_schedule;
    const std::int64_t rows = m_tiles.rows();
    const std::int64_t each = s.down * s.heads;
    const std::string in = s.tiles > each ? fmt::format("number % {}", each) : "number";
    const std::string down = s.heads > 1 ? fmt::format("{} / {}", in, s.heads) : in;
    m_code.line("tile.row = ({} - {}) * {};", s.down - 1, down, rows);
    if (isBatched()) {
      m_code.line("tile.batch = {}{};", s.tiles > each ? fmt::format("number / {} * {}", each, s.heads) : "",
                  s.heads == 1 ? "" : fmt::format("{}number % {}", s.tiles > each ? " + " : "", s.heads));
    }
    const std::string end = m_shape.keyCount >= s.down * rows
                                ? fmt::format("tile.row + {}", rows)
                                : fmt::format("min(tile.row + {}, {})", rows, m_shape.keyCount);
    m_code.line("tile.steps = ({} + {}) / {};", end, m_tiles.keys - 1, m_tiles.keys);
  }

  [[nodiscard]] std::string findComment() const {
    return fmt::format(
        "The {} queries of one head that have a number.{}", m_tiles.rows(),
        m_shape.isCausal ? fmt::format(" Of {} heads those with the most keys come first.", m_schedule.heads) : "");
  }

  // --- the kernel
  [[nodiscard]] std::string describe() const {
    std::string text = fmt::format(
        "A block makes {} queries at a time: {} warp groups go along the keys, {} at a time, with 64 of them each, and "
        "one "
        "has the copy engine bring what they need, {} steps ahead.",
        m_tiles.rows(), m_tiles.groups, m_tiles.keys, m_tiles.slots);
    if (m_tiles.overlaps) {
      text += " Exponentials of one step are made while tensor cores add the values of the step before";
      text += m_tiles.takesTurns ? ", or work for another warp group: they take turns." : ".";
    }
    return text;
  }

  void writeKernel(const std::string& entry) {
    m_code.comment(describeAttention(m_region, m_shape));
    m_code.comment(describe());
    m_code.open(
        "extern \"C\" __global__ void __launch_bounds__({}, 1) {}(const __grid_constant__ TensorMap queries, "
        "const __grid_constant__ TensorMap keys, const __grid_constant__ TensorMap values, {}{})",
        m_tiles.threads(), entry, m_writer.parameters(usedBuffers()),
        m_schedule.isTaken ? ", int* __restrict__ next" : "");
    prepare();
    m_code.blank();
    bring();
    m_code.blank();
    m_code.comment("--- The others: what a thread has of 64 queries.");
    declare();
    m_code.blank();
    writeSteps();
    m_code.blank();
    goAlong();
    m_code.close();
  }

  void prepare() {
    const std::int64_t slots = m_tiles.slots;
    m_code.line("extern __shared__ __align__(128) unsigned char shared[];");
    m_code.line("__shared__ unsigned long long barriers[{}];", 2 + 4 * slots);
    if (m_schedule.isTaken) {
      m_code.line("__shared__ int taken;  // the tile that the query in shared memory belongs to");
    }
    m_code.line(
        "const unsigned int query_tile = (sharedAddress(shared) + 1023) / 1024 * 1024;  // as the swizzle needs");
    m_code.line("const unsigned int key_tiles = query_tile + {};", m_tiles.queryBytes());
    m_code.line("const unsigned int value_tiles = key_tiles + {};", slots * m_tiles.keyBytes());
    m_code.comment("Barriers: a tile has come, and all have done with it. Of keys and values one for each slot.");
    m_code.line("const unsigned int has_query = sharedAddress(barriers), no_query = has_query + 8;");
    m_code.line("const unsigned int has_keys = has_query + 16, no_keys = has_keys + {};", slots * 8);
    m_code.line("const unsigned int has_values = no_keys + {0}, no_values = has_values + {0};", slots * 8);
    m_code.line("const int group = __shfl_sync(0xffffffffu, threadIdx.x / 128, 0);  // known to be the same in a warp");
    m_code.open("if (threadIdx.x == 0)");
    m_code.line("initBarrier(has_query, 1);");
    m_code.line("initBarrier(no_query, {});", m_tiles.groups);
    m_code.open("for (int b = 0; b < {}; b += 8)", slots * 8);
    for (const char* what : {"keys", "values"}) {
      m_code.line("initBarrier(has_{} + b, 1);", what);
      m_code.line("initBarrier(no_{} + b, {});", what, m_tiles.groups);
    }
    m_code.close();
    m_code.line("publishBarriers();");
    m_code.close();
    m_code.line("__syncthreads();");
    m_code.line("Tile_{} tile;", m_number);
    m_code.line("int slot = 0, phase = 0;");
    m_code.open("const auto advance = [&]");
    m_code.line("slot = slot == {} ? 0 : slot + 1;", slots - 1);
    m_code.line("phase ^= slot == 0;");
    m_code.close(";");
  }

  // --- the warp group that brings
  void bring() {
    const KernelWriter::Scope outside = m_writer.scope();
    m_code.open("if (group == {})", m_tiles.groups);
    m_code.comment("--- One thread asks the copy engine for the next tiles whenever all have done with a slot.");
    m_code.line("giveRegisters<{}>();", m_tiles.fewRegisters());
    openTilesToBring();
    if (isBatched()) {
      m_code.line("const int batch = tile.batch;");
      m_writer.decode("batch", m_shape.batch);
    }
    bringBlocks(m_query, "query_tile", m_tiles.queryBlockBytes(), m_tiles.depthBlocks(), "queries", "has_query",
                "tile.row");
    m_code.pragma("#pragma unroll 1");
    m_code.open("for (int step = 0; step < {}; ++step)", stepsText());
    for (const bool isKey : {true, false}) {
      const std::string what = isKey ? "keys" : "values";
      const std::int64_t bytes = isKey ? m_tiles.keyBytes() : m_tiles.valueBytes();
      m_code.line("waitFor(no_{} + slot * 8, phase ^ 1);", what);
      m_code.line("expectBytes(has_{} + slot * 8, {});", what, bytes);
      bringBlocks(isKey ? m_key : m_value, fmt::format("{} + slot * {}", isKey ? "key_tiles" : "value_tiles", bytes),
                  m_tiles.keyBlockBytes(), isKey ? m_tiles.depthBlocks() : m_tiles.columnBlocks(), what,
                  fmt::format("has_{} + slot * 8", what), fmt::format("step * {}", m_tiles.keys));
    }
    m_code.line("advance();");
    m_code.close();
    if (m_schedule.isTaken) {
      m_code.line("number = {} + atomicAdd(next, 1);", m_schedule.blocks);
    }
    m_code.close();
    m_code.line("return;");
    m_code.close();
    m_writer.leave(outside);
  }

  // Where tiles take different times, whoever is done takes the next one; the others get its number with the query.
  void openTilesToBring() {
    if (!m_schedule.isTaken) {
      m_code.open("for (int i = 0; threadIdx.x % 128 == 0 && find_{}({}, tile); ++i)", m_number, numberOfOwn());
      m_code.line("waitFor(no_query, i % 2 ^ 1);");
      m_code.line("expectBytes(has_query, {});", m_tiles.queryBytes());
      return;
    }
    m_code.open("for (int i = 0, number = blockIdx.x; threadIdx.x % 128 == 0; ++i)");
    m_code.line("const bool is_one = find_{}(number, tile);", m_number);
    m_code.line("waitFor(no_query, i % 2 ^ 1);");
    m_code.line("taken = number;");
    m_code.line("expectBytes(has_query, is_one ? {} : 0);", m_tiles.queryBytes());
    m_code.open("if (!is_one)");
    m_code.line("break;");
    m_code.close();
  }

  // Of the tile that a block makes as number i.
  [[nodiscard]] std::string numberOfOwn() const { return fmt::format("blockIdx.x + i * {}", m_schedule.blocks); }

  // Lines of 64 numbers each, until the tile is whole.
  void bringBlocks(const AttentionMap& map, const std::string& to, std::int64_t bytes, std::int64_t blocks,
                   const std::string& from, const std::string& barrier, const std::string& line) {
    std::string places = line;
    for (const std::size_t axis : map.batch) {
      places += ", " + m_writer.coordinate(axis);
    }
    if (map.batch.empty()) {
      places += ", 0";
    }
    const std::string call = map.batch.size() < 2 ? "bringTile" : fmt::format("bringTile{}D", map.batch.size() + 2);
    if (blocks == 1) {
      m_code.line("{}({}, {}, {}, 0, {});", call, to, from, barrier, places);
      return;
    }
    m_code.pragma("#pragma unroll");
    m_code.open("for (int c = 0; c < {}; ++c)", blocks);
    m_code.line("{}({} + c * {}, {}, {}, c * 64, {});", call, to, bytes, from, barrier, places);
    m_code.close();
  }

  // --- the warp groups that multiply
  void declare() {
    m_code.line("takeRegisters<{}>();", m_tiles.registers());
    m_code.line("const int lane = threadIdx.x % 32;");
    m_code.line("const int warp = threadIdx.x / 32;  // each has 16 queries, each thread two, 8 apart");
    m_code.line("const unsigned long long query = tileDescriptor(query_tile + group * 8192);");
    m_code.line("float score[{}], total[{}];  // of 8 keys or columns each thread has 2 of both queries",
                m_tiles.keys / 2, m_tiles.columns / 2);
    m_code.line("unsigned int weight[{}][4];  // exponentials of the scores, in pairs of halves", m_tiles.keys / 16);
    m_code.line("float largest[2], remaining[2]{};  // of both queries: scores as powers of two, what is left of sums",
                hasWeights() ? ", weights[2]" : "");
    m_code.line("bool is_less = false;");
    m_code.open("const auto release = [&](unsigned int barrier)");
    m_code.open("if (threadIdx.x % 128 == 0)");
    m_code.line("arriveAt(barrier, 0);");
    m_code.close();
    m_code.close(";");
  }

  [[nodiscard]] bool hasWeights() const { return m_shape.weights >= 0; }
  // Of a descriptor: from one 16 of the depth to the next, in blocks of 64.
  [[nodiscard]] std::string along(std::int64_t blockBytes, std::int64_t blocks) const {
    return blocks == 1 ? "k * 2" : fmt::format("k / 4 * {} + k % 4 * 2", blockBytes / 16);
  }

  // What happens in each step, as functions.
  void writeSteps() {
    m_code.open("const auto makeScores = [&](int of)");
    m_code.line("const unsigned long long key = tileDescriptor(key_tiles + of * {});", m_tiles.keyBytes());
    m_code.line("openProducts(score);");
    m_code.pragma("#pragma unroll");
    m_code.open("for (int k = 0; k < {}; ++k)", m_tiles.depth / 16);
    m_code.line("scores_{}(score, query + {}, key + {}, k > 0);", m_number,
                along(m_tiles.queryBlockBytes(), m_tiles.depthBlocks()),
                along(m_tiles.keyBlockBytes(), m_tiles.depthBlocks()));
    m_code.close();
    m_code.line("closeProducts();");
    m_code.close(";");

    m_code.open("const auto addValues = [&](int of, bool keep)");
    m_code.line("const unsigned long long value = tileDescriptor(value_tiles + of * {}, {});", m_tiles.valueBytes(),
                m_tiles.keyBlockBytes());
    m_code.line("openProducts(total);");
    m_code.pragma("#pragma unroll");
    m_code.open("for (int k = 0; k < {}; ++k)", m_tiles.keys / 16);
    m_code.line("values_{}(total, weight[k], value + k * 128, k > 0 || keep);", m_number);
    m_code.close();
    m_code.line("closeProducts();");
    m_code.close(";");

    writePieces();
    changeScores();
    weigh();

    m_code.open("const auto shorten = [&]");
    m_code.pragma("#pragma unroll");
    m_code.open("for (int i = 0; i < {}; ++i)", m_tiles.keys / 4);
    m_code.line("weight[i / 4][i % 4] = {}(score[2 * i], score[2 * i + 1]);", packing());
    m_code.close();
    m_code.close(";");

    m_code.open("const auto shrink = [&]");
    m_code.open("if (__any_sync(0xffffffffu, is_less))");
    m_code.pragma("#pragma unroll");
    m_code.open("for (int i = 0; i < {}; ++i)", m_tiles.columns / 2);
    m_code.line("total[i] *= remaining[i / 2 % 2];");
    m_code.close();
    m_code.close();
    m_code.close(";");
  }

  // Whether scores are something else than products.
  [[nodiscard]] bool changesScores() const {
    return !isPlain() || m_shape.isCausal || m_shape.keyCount % m_tiles.keys != 0;
  }

  // What is to be brought ahead of the products it belongs to: 8 keys at a time, of 32 to four lanes.
  void writePieces() {
    if (m_tiles.pieces.empty()) {
      return;
    }
    for (const int prim : m_tiles.pieces) {
      m_pieces.push_back(m_writer.unique(m_writer.parameterOf(operandOf(prim)) + "_ahead"));
      m_code.line("unsigned int {}[{}][4];", m_pieces.back(), m_tiles.keys / 16);
    }
    const KernelWriter::Scope outside = m_writer.scope();
    m_code.open("const auto bringPieces = [&](int first_key)");
    m_code.line("const int first_row = tile.row{};", isBatched() ? ", batch = tile.batch" : "");
    if (isBatched()) {
      m_writer.decode("batch", m_shape.batch);
    }
    m_code.pragma("#pragma unroll");
    m_code.open("for (int i = 0; i < {}; ++i)", m_tiles.keys / 16);
    const auto kept = [](const std::string& place, bool hasTail, std::int64_t last) {
      return hasTail ? fmt::format("min({}, {})", place, last) : place;
    };
    m_code.line("const int row = {};",
                kept("first_row + warp * 16 + lane / 4 + i % 2 * 8", hasRowTail(), m_shape.rowCount - 1));
    m_code.line("const int key = {};", kept("first_key + i / 2 * 32 + lane % 4 * 8",
                                            m_shape.keyCount % m_tiles.keys != 0, m_shape.keyCount - 8));
    m_writer.decode("row", m_shape.rows);
    m_writer.decode("key", m_shape.keys);
    for (std::size_t i = 0; i < m_pieces.size(); ++i) {
      m_code.line("loadWords({}[i], &{});", m_pieces[i], m_writer.element(operandOf(m_tiles.pieces[i])));
    }
    m_code.close();
    m_code.close(";");
    m_writer.leave(outside);
  }

  [[nodiscard]] const Operand& operandOf(int prim) const {
    return m_region.operands[asIndex(m_region.prims[asIndex(prim)].operand)];
  }

  void bringPieces(const std::string& step) {
    if (!m_pieces.empty()) {
      m_code.line("bringPieces({});", step == "0" ? step : fmt::format("{} * {}", step, m_tiles.keys));
    }
  }

  // Each lane gets what belongs to its scores.
  void turnPieces() {
    if (m_pieces.empty()) {
      return;
    }
    m_code.pragma("#pragma unroll");
    m_code.open("for (int i = 0; i < {}; ++i)", m_tiles.keys / 16);
    for (const std::string& name : m_pieces) {
      m_code.line("turnQuads({}[i]);", name);
    }
    m_code.close();
  }

  void bindPieces() {
    for (std::size_t i = 0; i < m_pieces.size(); ++i) {
      m_writer.bind(
          m_tiles.pieces[i],
          {fmt::format("toFloat({}{{static_cast<unsigned short>({}[i / 16 * 2 + i / 2 % 2][i / 4 % 4] >> i % 2 "
                       "* 16)}})",
                       m_writer.dialect().storageName(operandOf(m_tiles.pieces[i]).dtype), m_pieces[i])});
    }
  }

  void openScores() {
    m_code.pragma("#pragma unroll");
    m_code.open("for (int i = 0; i < {}; ++i)", m_tiles.keys / 2);
    m_code.line("const int row = first_row + warp * 16 + lane / 4 + i / 2 % 2 * 8;");
    m_code.line("const int key = first_key + i / 4 * 8 + lane % 4 * 2 + i % 2;");
  }

  // From products to what the softmax is taken of, and away with what does not take part.
  void changeScores() {
    if (!changesScores()) {
      return;
    }
    const KernelWriter::Scope outside = m_writer.scope();
    m_code.open("const auto changeScores = [&](int first_key)");
    m_code.line("const int first_row = tile.row;");
    if (!isPlain()) {
      changeAnyScores();
    }
    const bool hasTail = m_shape.keyCount % m_tiles.keys != 0;
    if (m_shape.isCausal || (hasTail && isPlain())) {
      const std::string last = std::to_string(m_shape.keyCount - 1);
      const auto lastOf = [&](const std::string& row) {
        return !m_shape.isCausal ? last : hasTail ? fmt::format("min({}, {})", row, last) : row;
      };
      m_code.open("if (first_key + {} > {})", m_tiles.keys - 1, lastOf("first_row + warp * 16"));
      openScores();
      m_code.line("score[i] = key > {} ? -kInfinity : score[i];", lastOf("row"));
      m_code.close();
      m_code.close();
    }
    m_code.close(";");
    m_writer.leave(outside);
  }

  void changeAnyScores() {
    const KernelWriter::Scope outside = m_writer.scope();
    turnPieces();
    if (isBatched()) {
      m_code.line("const int batch = tile.batch;");
      m_writer.decode("batch", m_shape.batch);
    }
    openScores();
    std::string condition;
    if (m_shape.rowCount % m_tiles.rows() != 0) {
      condition = fmt::format("row < {}", m_shape.rowCount);
    }
    if (m_shape.keyCount % m_tiles.keys != 0) {
      condition += fmt::format("{}key < {}", condition.empty() ? "" : " && ", m_shape.keyCount);
    }
    m_writer.decode("row", m_shape.rows);
    m_writer.decode("key", m_shape.keys);
    m_code.line("float changed = -kInfinity;");
    if (!condition.empty()) {
      m_code.open("if ({})", condition);
    }
    m_writer.bind(m_shape.products, {"score[i]"});
    bindPieces();
    m_writer.compute({m_shape.score});
    m_code.line("changed = {};", m_writer.value(m_shape.score).text);
    if (!condition.empty()) {
      m_code.close();
    }
    m_code.line("score[i] = changed;");
    m_code.close();
    m_writer.leave(outside);
  }

  // Four lanes have the scores of a query.
  void meet(const std::string& what, const std::string& join) {
    for (const int lanes : {1, 2}) {
      m_code.line(fmt::runtime("{0} = " + join + ";"), what,
                  fmt::format("__shfl_xor_sync(0xffffffffu, {}, {})", what, lanes));
    }
  }

  void weigh() {
    m_code.open("const auto weigh = [&]");
    m_code.line("is_less = false;");
    m_code.pragma("#pragma unroll");
    m_code.open("for (int h = 0; h < 2; ++h)");
    m_code.line("float most = score[2 * h];");
    m_code.pragma("#pragma unroll");
    m_code.open("for (int i = 2 * h; i < {}; i += 4)", m_tiles.keys / 2);
    m_code.line("most = fmaxf(most, fmaxf(score[i], score[i + 1]));");
    m_code.close();
    meet("most", "fmaxf({0}, {1})");
    const std::string factor = number(inExponent());
    m_code.comment(fmt::format("Shrinking sums costs time: weights may be 2^{:.0f} before.", kLargestWeight));
    m_code.line("most = most * {0} - largest[h] > {1} ? most * {0} : largest[h];", factor, number(kLargestWeight));
    m_code.line("const float base = most == -kInfinity ? 0.0f : most;");
    m_code.line("remaining[h] = powerOfTwo(largest[h] - base);");
    m_code.line("is_less |= most != largest[h];");
    m_code.line("largest[h] = most;");
    if (hasWeights()) {
      m_code.line("float sum = 0.0f;");
    }
    m_code.pragma("#pragma unroll");
    m_code.open("for (int i = 2 * h; i < {}; i += 4)", m_tiles.keys / 2);
    m_code.pragma("#pragma unroll");
    m_code.open("for (int j = i; j < i + 2; ++j)");
    m_code.line("score[j] = powerOfTwo(score[j] * {} - base);", factor);
    if (hasWeights()) {
      m_code.line("sum += score[j];");
    }
    m_code.close();
    m_code.close();
    if (hasWeights()) {
      m_code.line("weights[h] = weights[h] * remaining[h] + sum;");
    }
    m_code.close();
    m_code.close(";");
  }

  void goAlong() {
    const KernelWriter::Scope outside = m_writer.scope();
    if (m_tiles.takesTurns) {
      m_code.open("if (group == {})", m_tiles.groups - 1);
      m_code.line("giveTurn(0);");
      m_code.close();
    }
    if (m_schedule.isTaken) {
      m_code.open("for (int i = 0;; ++i)");
      m_code.line("waitFor(has_query, i % 2);");
      m_code.open("if (!find_{}(taken, tile))", m_number);
      m_code.line("return;");
      m_code.close();
    } else {
      m_code.open("for (int i = 0; find_{}({}, tile); ++i)", m_number, numberOfOwn());
      m_code.line("waitFor(has_query, i % 2);");
    }
    m_code.line("largest[0] = largest[1] = -kInfinity;");
    if (hasWeights()) {
      m_code.line("weights[0] = weights[1] = 0.0f;");
    }
    if (m_tiles.overlaps) {
      stepsThatOverlap();
    } else {
      stepsOneByOne();
    }
    finish();
    m_code.close();
    m_writer.leave(outside);
  }

  void change(const std::string& step) {
    if (changesScores()) {
      m_code.line("changeScores({});", step == "0" ? step : fmt::format("{} * {}", step, m_tiles.keys));
    }
  }

  void stepsThatOverlap() {
    bringPieces("0");
    m_code.line("waitFor(has_keys + slot * 8, phase);");
    m_code.line("makeScores(slot);");
    m_code.line("waitForProducts<0>(score);");
    releaseKeys("0");
    change("0");
    m_code.line("weigh();");
    m_code.line("waitFor(has_values + slot * 8, phase);");
    m_code.line("shorten();");
    m_code.pragma("#pragma unroll 1");
    m_code.open("for (int step = 1; step < {}; ++step)", stepsText());
    m_code.line("const int before = slot;");
    m_code.line("advance();");
    bringPieces("step");
    m_code.line("waitFor(has_keys + slot * 8, phase);");
    if (m_tiles.takesTurns) {
      m_code.line("takeTurn(group);");
    }
    m_code.line("makeScores(slot);");
    m_code.line("addValues(before, step > 1);");
    if (m_tiles.takesTurns) {
      m_code.line("giveTurn({});", m_tiles.groups == 2 ? "1 - group" : fmt::format("(group + 1) % {}", m_tiles.groups));
    }
    m_code.comment("The scores are there; until the values have been added, too, exponentials are made.");
    m_code.line("waitForProducts<1>(score);");
    releaseKeys("step");
    change("step");
    m_code.line("weigh();");
    m_code.line("makeHere(score);");
    m_code.line("waitFor(has_values + slot * 8, phase);");
    m_code.line("waitForProducts<0>(total);");
    m_code.line("release(no_values + before * 8);");
    m_code.line("shrink();");
    m_code.line("shorten();");
    m_code.close();
    m_code.line("addValues(slot, {});", m_shape.isCausal ? "tile.steps > 1" : steps() > 1 ? "true" : "false");
    m_code.line("waitForProducts<0>(total);");
    m_code.line("release(no_values + slot * 8);");
    m_code.line("advance();");
  }

  void stepsOneByOne() {
    m_code.pragma("#pragma unroll 1");
    m_code.open("for (int step = 0; step < {}; ++step)", stepsText());
    bringPieces("step");
    m_code.line("waitFor(has_keys + slot * 8, phase);");
    m_code.line("makeScores(slot);");
    m_code.line("waitForProducts<0>(score);");
    releaseKeys("step");
    change("step");
    m_code.line("weigh();");
    m_code.line("shorten();");
    m_code.open("if (step > 0)");
    m_code.line("shrink();");
    m_code.close();
    m_code.line("waitFor(has_values + slot * 8, phase);");
    m_code.line("addValues(slot, step > 0);");
    m_code.line("waitForProducts<0>(total);");
    m_code.line("release(no_values + slot * 8);");
    m_code.line("advance();");
    m_code.close();
  }

  // After the last step the query is needed no more, so that the next one comes while exponentials are made.
  void releaseKeys(const std::string& step) {
    m_code.line("release(no_keys + slot * 8);");
    if (step == "0" && !m_shape.isCausal && steps() > 1) {
      return;
    }
    m_code.open("if ({} == {})", step == "0" ? stepsText() : step + " + 1", step == "0" ? "1" : stepsText());
    m_code.line("release(no_query);");
    m_code.close();
  }

  // --- results
  void finish() {
    m_code.comment("The results, with what follows.");
    m_code.line("const int first_row = tile.row{};", isBatched() ? ", batch = tile.batch" : "");
    if (isBatched()) {
      m_writer.decode("batch", m_shape.batch);
    }
    m_code.pragma("#pragma unroll");
    m_code.open("for (int h = 0; h < 2; ++h)");
    m_code.line("const int row = first_row + warp * 16 + h * 8 + lane / 4;");
    if (hasWeights()) {
      meet("weights[h]", "{0} + {1}");
    }
    m_writer.decode("row", m_shape.rows);
    if (hasPieces()) {
      storePieces();
    } else {
      storeEach();
    }
    m_code.close();
  }

  void bindResult(const std::string& total) {
    m_writer.bind(m_shape.total, {total});
    if (hasWeights()) {
      m_writer.bind(m_shape.weights, {"weights[h]"});
    }
  }

  [[nodiscard]] bool hasRowTail() const { return m_shape.rowCount % m_tiles.rows() != 0; }

  // Whether 8 columns of halves can be stored at once, after lanes have exchanged what they have of 32.
  [[nodiscard]] bool hasPieces() const {
    if (m_shape.columnCount % 32 != 0 || m_region.groupStores.size() != 1) {
      return false;
    }
    const Store& store = m_region.groupStores[0];
    const Operand& out = m_region.operands[asIndex(store.operand)];
    if (out.dtype != m_query.operand->dtype || m_region.prims[asIndex(store.prim)].type != Compute::F32 ||
        out.offset % 8 != 0 || (hasRowTail() && !m_writer.buffersOf(store.prim).empty())) {
      return false;
    }
    for (std::size_t axis = 0; axis < out.strides.size(); ++axis) {
      const bool isColumn = axis == m_shape.columns[0];
      if (isColumn ? out.strides[axis] != 1 : out.strides[axis] % 8 != 0) {
        return false;
      }
    }
    return true;
  }

  void storePieces() {
    const Store& store = m_region.groupStores[0];
    m_code.pragma("#pragma unroll");
    m_code.open("for (int c = 0; c < {}; c += 4)", m_shape.columnCount / 8);
    m_code.line("unsigned int pairs[4];  // of 8 columns each; after the exchange a lane has all of one");
    m_code.pragma("#pragma unroll");
    m_code.open("for (int j = 0; j < 4; ++j)");
    const std::string column = "(c + j) * 8 + lane % 4 * 2";
    const KernelWriter::Scope before = m_writer.scope();
    std::string values[2];
    for (const int side : {0, 1}) {
      // Names are kept, values are others.
      KernelWriter::Scope same = m_writer.scope();
      same.prims = before.prims;
      m_writer.leave(std::move(same));
      m_writer.bindAxis(m_shape.columns[0], fmt::format("({}{})", column, side == 0 ? "" : " + 1"));
      bindResult(fmt::format("total[(c + j) * 4 + 2 * h{}]", side == 0 ? "" : " + 1"));
      m_writer.compute({store.prim});
      values[side] = m_writer.value(store.prim).text;
    }
    m_code.line("pairs[j] = {}({}, {});", packing(), values[0], values[1]);
    m_code.close();
    m_writer.leave(before);
    m_code.line("turnQuads(pairs);");
    if (hasRowTail()) {
      m_code.open("if (row < {})", m_shape.rowCount);
    }
    m_writer.bindAxis(m_shape.columns[0], "(c * 8 + lane % 4 * 8)");
    m_code.line("storeWords(&{}, pairs);", m_writer.element(m_region.operands[asIndex(store.operand)]));
    if (hasRowTail()) {
      m_code.close();
    }
    m_code.close();
  }

  void storeEach() {
    m_code.pragma("#pragma unroll");
    m_code.open("for (int c = 0; c < {}; ++c)", m_tiles.columns / 4);
    m_code.line("const int column = c / 2 * 8 + lane % 4 * 2 + c % 2;");
    std::string condition;
    if (hasRowTail()) {
      condition = fmt::format("row < {}", m_shape.rowCount);
    }
    if (m_shape.columnCount != m_tiles.columns) {
      condition += fmt::format("{}column < {}", condition.empty() ? "" : " && ", m_shape.columnCount);
    }
    if (!condition.empty()) {
      m_code.open("if ({})", condition);
    }
    m_writer.decode("column", m_shape.columns);
    bindResult("total[c / 2 * 4 + 2 * h + c % 2]");
    m_writer.compute(storedPrims(m_region.groupStores));
    m_writer.store(m_region.groupStores);
    if (!condition.empty()) {
      m_code.close();
    }
    m_code.close();
  }

  const Region& m_region;
  AttentionShape m_shape;
  WarpGroupTiles m_tiles;
  AttentionSchedule m_schedule;
  AttentionMap m_query;
  AttentionMap m_key;
  AttentionMap m_value;
  int m_number;
  KernelWriter m_writer;
  Code& m_code;
  std::vector<std::string> m_pieces;  // variables for WarpGroupTiles::pieces
};

}  // namespace

KernelText writeWarpGroupAttention(const Instance& instance, const Launch& launch, int number) {
  return WarpGroupAttention(instance, *attentionShape(instance.region), number).run(launch);
}

}  // namespace swage::synth
