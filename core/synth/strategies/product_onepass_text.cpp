// SPDX-License-Identifier: Apache-2.0
// The kernels of products that split their operands while they bring them, as text.
#include "core/synth/strategies/product_onepass_text.h"

#include <algorithm>
#include <set>
#include <utility>

#include "core/synth/strategies/product_wgmma.h"

namespace swage::synth {
namespace {

using Kind = LaunchArgument::Kind;

// Writes the kernels: clear, product, finish.
class OnepassKernels final : OnepassPart {
 public:
  explicit OnepassKernels(OnepassText& text) : OnepassPart(text) {}

  KernelText run(const Launch& launch) {
    std::vector<std::vector<LaunchArgument>> arguments;
    writeClear(launch.step.entry, launch.scratch.front().elementCount());
    arguments.push_back({{Kind::Scratch, 0}});
    writeWarpGroupMultiply(m_code, m_number, {m_tiles.columns, "f16", m_left.isAlongDepth, m_right.isAlongDepth});
    writeFind();
    writeProduct(launch.more[0].entry);
    writeOnepassFinish(m_text, launch.more[1].entry);
    for (int i = 0; i < 2; ++i) {
      std::vector<LaunchArgument>& each = arguments.emplace_back();
      for (const std::size_t place : m_text.usedBuffers()) {
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
                m_text.parameters(true));
    prepare();
    m_code.open("if (group >= {})", m_tiles.groups());
    writeOnepassBring(m_text);
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
    writeOnepassResults(m_text);
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
};

}  // namespace

OnepassText::OnepassText(const Instance& instance, ProductShape product, int numberOfRegion)
    : region(instance.region),
      shape(std::move(product)),
      tiles(instance),
      schedule(shape, tiles, instance.device.multiprocessors),
      left(onepassSource(region, shape, tiles, OnepassSide::Left)),
      right(onepassSource(region, shape, tiles, OnepassSide::Right)),
      number(numberOfRegion),
      writer(instance, Dialect::of(domain::Language::CudaCpp),
             {"sum",     "fresh",     "row",      "column",   "depth",        "batch",     "lane",   "group",
              "warp",    "slot",      "phase",    "advance",  "full",         "empty",     "slots",  "staged",
              "tile",    "next",      "step",     "kept",     "largest",      "bring",     "thread", "major",
              "minor",   "first_row", "memory",   "products", "first_column", "left_high", "now",    "left_low",
              "ready",   "to",        "is_there", "is_last",  "right_high",   "right_low", "number", "partial",
              "left_at", "right_at",  "parts",    "total",    "is_exact",     "of_chunk",  "first",  "i",
              "p",       "r",         "c",        "v",        "at",           "place",     "is_any", "rows",
              "line"}),
      code(writer.code()),
      storesRows(swage::synth::storesRows(region, shape)) {}

std::vector<std::size_t> OnepassText::usedBuffers() const {
  std::set<std::size_t> used = writer.buffersOf(left.prim);
  used.merge(writer.buffersOf(right.prim));
  for (const Store& store : region.groupStores) {
    used.merge(writer.buffersOf(store.prim));
  }
  for (std::size_t i = 0; i < writer.buffers().size(); ++i) {
    if (writer.buffers()[i].output) {
      used.insert(i);
    }
  }
  return {used.begin(), used.end()};
}

std::string OnepassText::parameters(bool isProduct) const {
  const std::string_view constant = isProduct ? "" : "const ";
  return fmt::format("{}, {}unsigned int* largest_of{}", writer.parameters(usedBuffers()), constant,
                     isCut() ? fmt::format(", {}float* __restrict__ partial", constant) : "");
}

std::string OnepassPart::clamped(const std::string& value, std::int64_t last, bool isNeeded) {
  return isNeeded ? fmt::format("min({}, {})", value, last) : value;
}

void OnepassPart::openPieces(const std::string& name, std::int64_t count) {
  m_code.pragma("#pragma unroll");
  m_code.open("for (int {0} = 0; {0} < {1}; ++{0})", name, count);
}

void OnepassPart::setRegisters(std::int64_t count) {
  if (count != m_tiles.firstRegisters()) {
    m_code.line("{}Registers<{}>();", count > m_tiles.firstRegisters() ? "take" : "give", count);
  }
}

void OnepassPart::arrive(const std::string& barrier, int threads) {
  m_code.open("if (threadIdx.x % {} == 0)", threads);
  m_code.line("arriveAt({}, 0);", barrier);
  m_code.close();
}

KernelText writeOnepassProduct(const Instance& instance, const Launch& launch, int number) {
  OnepassText text(instance, *productShape(instance.region), number);
  return OnepassKernels(text).run(launch);
}

}  // namespace swage::synth
