// SPDX-License-Identifier: Apache-2.0
// The kernel of attention by wgmma as text.
#include "core/synth/strategies/attention_wgmma_text.h"

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

// Writes which tiles there are, and the kernel up to what the warp groups do that multiply.
class WarpGroupAttention : private AttentionPart {
 public:
  explicit WarpGroupAttention(AttentionText& text) : AttentionPart(text) {}

  KernelText run(const Launch& launch) {
    const std::string type = m_text.isHalf() ? "f16" : "bf16";
    writeWarpGroupMultiply(m_code, fmt::format("scores_{}", m_text.number), {m_tiles.keys, type, true, true, false});
    writeWarpGroupMultiply(m_code, fmt::format("values_{}", m_text.number), {m_tiles.columns, type, true, false, true});
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
    m_code.open("struct Tile_{}", m_text.number);
    m_code.line("int {}row{};", m_text.isBatched() ? "batch, " : "", m_shape.isCausal ? ", steps" : "");
    m_code.close(";");
    m_code.open("__device__ inline bool find_{0}(int number, Tile_{0}& tile)", m_text.number);
    if (m_shape.isCausal) {
      findCausal();
    } else {
      m_code.line("tile.row = {} * {};", m_text.isBatched() ? fmt::format("number % {}", s.down) : "number", rows);
      if (m_text.isBatched()) {
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
    if (m_text.isBatched()) {
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
    writeAttentionMultiply(m_text);
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
    m_code.line("Tile_{} tile;", m_text.number);
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
    if (m_text.isBatched()) {
      m_code.line("const int batch = tile.batch;");
      m_writer.decode("batch", m_shape.batch);
    }
    bringBlocks(m_text.query, "query_tile", m_tiles.queryBlockBytes(), m_tiles.depthBlocks(), "queries", "has_query",
                "tile.row");
    m_code.pragma("#pragma unroll 1");
    m_code.open("for (int step = 0; step < {}; ++step)", m_text.stepsText());
    for (const bool isKey : {true, false}) {
      const std::string what = isKey ? "keys" : "values";
      const std::int64_t bytes = isKey ? m_tiles.keyBytes() : m_tiles.valueBytes();
      m_code.line("waitFor(no_{} + slot * 8, phase ^ 1);", what);
      m_code.line("expectBytes(has_{} + slot * 8, {});", what, bytes);
      bringBlocks(isKey ? m_text.key : m_text.value,
                  fmt::format("{} + slot * {}", isKey ? "key_tiles" : "value_tiles", bytes), m_tiles.keyBlockBytes(),
                  isKey ? m_tiles.depthBlocks() : m_tiles.columnBlocks(), what, fmt::format("has_{} + slot * 8", what),
                  fmt::format("step * {}", m_tiles.keys));
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
      m_code.open("for (int i = 0; threadIdx.x % 128 == 0 && find_{}({}, tile); ++i)", m_text.number,
                  m_text.numberOfOwn());
      m_code.line("waitFor(no_query, i % 2 ^ 1);");
      m_code.line("expectBytes(has_query, {});", m_tiles.queryBytes());
      return;
    }
    m_code.open("for (int i = 0, number = blockIdx.x; threadIdx.x % 128 == 0; ++i)");
    m_code.line("const bool is_one = find_{}(number, tile);", m_text.number);
    m_code.line("waitFor(no_query, i % 2 ^ 1);");
    m_code.line("taken = number;");
    m_code.line("expectBytes(has_query, is_one ? {} : 0);", m_tiles.queryBytes());
    m_code.open("if (!is_one)");
    m_code.line("break;");
    m_code.close();
  }

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
};

}  // namespace

AttentionText::AttentionText(const Instance& instance, AttentionShape attention, int kernel)
    : region(instance.region),
      shape(std::move(attention)),
      tiles(instance, shape),
      schedule(instance, shape, tiles),
      query(*attentionMap(region, shape, shape.query)),
      key(*attentionMap(region, shape, shape.key)),
      value(*attentionMap(region, shape, shape.value)),
      number(kernel),
      writer(instance, Dialect::of(domain::Language::CudaCpp), kWarpGroupNames),
      code(writer.code()) {
  writer.numberApart();
}

const Operand& AttentionText::operandOf(int prim) const {
  return region.operands[asIndex(region.prims[asIndex(prim)].operand)];
}

std::int64_t AttentionText::steps() const {
  return divideUp(shape.keyCount, tiles.keys);
}

bool AttentionText::changesScores() const {
  return !tiles.isPlain || shape.isCausal || shape.keyCount % tiles.keys != 0;
}

void AttentionText::meet(const std::string& what, const std::string& join) {
  for (const int lanes : {1, 2}) {
    code.line(fmt::runtime("{0} = " + join + ";"), what,
              fmt::format("__shfl_xor_sync(0xffffffffu, {}, {})", what, lanes));
  }
}

KernelText writeWarpGroupAttention(const Instance& instance, const Launch& launch, int number) {
  AttentionText text(instance, *attentionShape(instance.region), number);
  return WarpGroupAttention(text).run(launch);
}

}  // namespace swage::synth
