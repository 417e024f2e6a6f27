// SPDX-License-Identifier: Apache-2.0
// The kernels of convolutions by wgmma as text.
#include "core/synth/strategies/conv_wgmma_text.h"

#include <algorithm>

#include "core/synth/strategies/product_wgmma.h"

namespace swage::synth {
namespace {

using Axes = std::vector<std::size_t>;

std::string outerName(std::size_t dim) {
  return fmt::format("outer{}", dim);
}

// Writes the pass over the weights and the convolution.
class HaloKernels : private HaloPart {
 public:
  explicit HaloKernels(HaloText& text) : HaloPart(text) {}

  KernelText run(const Launch& launch) {
    m_weights.write(m_problem, m_writer, launch.step.entry, m_text.planes, m_text.exponents);
    const bool isHalf = m_weights.format.type == domain::ScalarType::Float16;
    writeWarpGroupMultiply(m_code, m_text.number, {m_tiles.instructionPixels(), isHalf ? "f16" : "bf16"});
    writeFind();
    writeConvolution(launch.more.front().entry);
    const std::set<std::size_t> read = m_writer.buffersOf(m_shape.right);
    const bool isJoined = m_problem.folds == HaloFolds::Positions;
    if (isJoined) {
      writeHaloJoin(m_text, launch.more.back().entry, joinedBuffers());
    }
    KernelText text = m_writer.finish();
    text.arguments = {argumentsOf({read.begin(), read.end()}), argumentsOf(usedBuffers())};
    if (isJoined) {
      const LaunchArgument findings{LaunchArgument::Kind::Scratch, m_weights.scratch().size()};
      text.arguments[1].push_back(findings);
      text.arguments.emplace_back();
      for (const std::size_t buffer : joinedBuffers()) {
        text.arguments.back().push_back({LaunchArgument::Kind::Buffer, buffer});
      }
      text.arguments.back().push_back(findings);
    }
    return text;
  }

 private:
  // --- arguments
  [[nodiscard]] std::vector<LaunchArgument> argumentsOf(const std::vector<std::size_t>& buffers) const {
    std::vector<LaunchArgument> arguments;
    arguments.reserve(buffers.size());
    for (const std::size_t buffer : buffers) {
      arguments.push_back({LaunchArgument::Kind::Buffer, buffer});
    }
    for (std::size_t i = 0; i < m_weights.scratch().size(); ++i) {
      arguments.push_back({LaunchArgument::Kind::Scratch, i});
    }
    return arguments;
  }

  // Of the convolution: its input, what results are computed from and stored in, and the weights themselves where
  // results may have to be added up anew.
  [[nodiscard]] std::vector<std::size_t> usedBuffers() const {
    std::set<std::size_t> used = m_writer.buffersOf(m_shape.left);
    addStores(m_problem.resultStores, used);
    if (m_problem.folds != HaloFolds::Positions) {
      addStores(m_problem.foldStores, used);
    }
    for (const Fold& fold : m_region.folds) {
      if (fold.later) {
        used.merge(m_writer.buffersOf(fold.input));
      }
    }
    if (m_text.isScaled()) {
      used.merge(m_writer.buffersOf(m_shape.right));
    }
    return {used.begin(), used.end()};
  }

  void addStores(const std::vector<Store>& stores, std::set<std::size_t>& used) const {
    for (const Store& store : stores) {
      used.merge(m_writer.buffersOf(store.prim));
      const KernelBuffer buffer{m_text.operandAt(store.operand).value, true};
      const auto& all = m_writer.buffers();
      used.insert(static_cast<std::size_t>(std::find(all.begin(), all.end(), buffer) - all.begin()));
    }
  }

  // Of the kernel that joins what tiles have found.
  [[nodiscard]] std::vector<std::size_t> joinedBuffers() const {
    std::set<std::size_t> used;
    addStores(m_problem.foldStores, used);
    return {used.begin(), used.end()};
  }

  // --- tiles
  void writeFind() {
    const std::int64_t kinds = m_layout.columns * m_problem.batchCount;
    m_code.comment(
        fmt::format("What a block makes as number i, of {} tiles: blocks side by side have the same "
                    "positions, in all channels{}.",
                    m_layout.tiles, m_problem.hasPhases ? " and phases" : ""));
    m_code.open("struct Tile_{}", m_text.number);
    m_code.line("int column, {}place;", m_text.isBatched() ? "batch, " : "");
    m_code.close(";");
    m_code.open("__device__ inline bool find_{0}(int i, Tile_{0}& tile)", m_text.number);
    m_code.line("const int number = blockIdx.x + i * {};", m_layout.blocks);
    m_code.line("tile.column = number % {} * {};", m_layout.columns, m_tiles.columns);
    if (m_text.isBatched()) {
      m_code.line("tile.batch = number / {} % {};", m_layout.columns, m_problem.batchCount);
    }
    m_code.line("tile.place = number / {}{};", kinds, m_tiles.parts > 1 ? fmt::format(" * {}", m_tiles.parts) : "");
    m_code.line("return number < {};", m_layout.tiles);
    m_code.close();
    m_code.blank();
  }

  // --- the convolution
  void describe() {
    m_code.comment(fmt::format(
        "A convolution as a product on tensor cores: {} positions by {} channels, summed over {}{}.{} A block makes "
        "{}tile{} of {} channels by {} x {} positions. {} warp group{} multiply, {} bring patches of the input, {} "
        "channels at a time, which all {} places of the window are multiplied from; the weights {}.",
        m_shape.rowCount, m_shape.columnCount, extentsText(m_region, m_shape.depth),
        m_shape.batchCount > 1 ? fmt::format(", for {} groups or phases", m_shape.batchCount) : "",
        m_tiles.isExact()
            ? " Floats are high + low, both halves; of the four products that of the low ones is left out."
        : m_text.isScaled() ? " Floats are rounded to halves, with as many bits of mantissa as TF32."
                            : "",
        m_tiles.parts > 1 ? fmt::format("{} ", m_tiles.parts) : "a ", m_tiles.parts > 1 ? "s" : "", m_tiles.columns,
        m_tiles.height(), m_tiles.width(), m_tiles.groups(), m_tiles.groups() > 1 ? "s" : "", m_tiles.bring,
        m_tiles.channels, m_layout.taps, m_layout.isKept ? "stay in shared memory" : "come by the copy engine"));
  }

  void writeConvolution(const std::string& entry) {
    describe();
    m_code.open(
        "extern \"C\" __global__ void __launch_bounds__({}, {}) {}({}, const {}* __restrict__ {}{}{})",
        m_tiles.threads(), m_tiles.blocks, entry, m_writer.parameters(usedBuffers()), m_text.partStorage(),
        m_text.planes, m_text.isScaled() ? fmt::format(", const int* __restrict__ {}", m_text.exponents) : "",
        m_problem.folds == HaloFolds::Positions ? fmt::format(", float* __restrict__ {}", m_text.findings) : "");
    prepare();
    m_code.open("if (group >= {})", m_tiles.groups());
    setRegisters(m_tiles.bringRegisters());
    writeHaloBring(m_text);
    m_code.otherwise();
    setRegisters(m_tiles.registers());
    writeHaloMultiply(m_text);
    m_code.close();
    m_code.close();
  }

  void setRegisters(std::int64_t count) {
    if (count != m_tiles.firstRegisters()) {
      m_code.line("{}Registers<{}>();", count > m_tiles.firstRegisters() ? "take" : "give", count);
    }
  }

  void prepare() {
    using Layout = HaloLayout;
    m_code.line("extern __shared__ __align__(128) unsigned char shared[];");
    m_code.line("const unsigned int memory = sharedAddress(shared);  // patches, then weights");
    m_code.line("const unsigned int stages = memory + {};", m_layout.patches * m_layout.patchBytes);
    m_code.line("const unsigned int full = memory + {};  // barriers of 8 bytes", m_layout.barriers(m_tiles));
    m_code.line("const unsigned int empty = full + {};", Layout::kEmptyPatch);
    m_code.line("unsigned char* const behind = shared + {};", m_layout.barriers(m_tiles));
    if (m_text.isScaled()) {
      m_code.line("float* const verdict = reinterpret_cast<float*>(behind + {});  // of the last patch of a tile",
                  Layout::kVerdicts);
    }
    if (m_layout.hasPairTable(m_tiles)) {
      m_code.line("unsigned int* const pairs = reinterpret_cast<unsigned int*>(behind + {});  // {}", m_layout.pairs,
                  HaloText::kPairs);
    }
    m_code.line("const int group = threadIdx.x / 128;");
    m_code.line("const int lane = threadIdx.x % 32;");
    m_code.open("if (threadIdx.x == 0)");
    m_code.open("for (int slot = 0; slot < {}; ++slot)", m_layout.patches);
    m_code.line("initBarrier(full + slot * 8, {});  // warps", m_tiles.gatherers() / 32);
    m_code.line("initBarrier(empty + slot * 8, {});", m_tiles.groups() * 4 + (m_text.waitsForVerdict() ? 1 : 0));
    m_code.close();
    m_code.open("for (int stage = 0; stage < {}; ++stage)", m_layout.isKept ? 1 : m_layout.stages);
    m_code.line("initBarrier(full + {} + stage * 8, 1);", Layout::kFullStage);
    if (!m_layout.isKept) {
      m_code.line("initBarrier(full + {} + stage * 8, {});", Layout::kEmptyStage, m_tiles.groups() * 4);
    }
    m_code.close();
    if (m_text.isScaled()) {
      m_code.open("for (int i = 0; i < 3; ++i)");
      m_code.line("reinterpret_cast<unsigned int*>(behind + {})[i] = 0;", Layout::kLargest);
      m_code.close();
    }
    if (m_layout.hasPairTable(m_tiles)) {
      const std::vector<std::string> list = m_text.pairs();
      for (std::size_t i = 0; i < list.size(); ++i) {
        m_code.line("pairs[{}] = {};", i, list[i]);
      }
    }
    m_code.line("publishBarriers();");
    m_code.close();
    if (m_layout.ofPatch > m_layout.taps) {
      writeZeros();
    }
    m_code.line("__syncthreads();");
    m_code.line("Tile_{} tile;", m_text.number);
    m_code.line("int slot = 0, turn = 0;  // of patches");
    m_code.open("const auto advance = [&]");
    m_code.line("slot = slot == {} ? 0 : slot + 1;", m_layout.patches - 1);
    m_code.line("turn ^= slot == 0;");
    m_code.close(";");
  }

  // The weights of the place that makes the count of them even.
  void writeZeros() {
    const std::int64_t pieces = m_tiles.stageBytes() / 16;
    m_code.open("for (int i = threadIdx.x; i < {}; i += {})", m_layout.steps * pieces, m_tiles.threads());
    m_code.line("const unsigned int zeros[4] = {};", "{}");
    m_code.line("storePiece(stages + (i / {0} * {1} + {2}) * {3} + i % {0} * 16, zeros);", pieces, m_layout.ofPatch,
                m_layout.taps, m_tiles.stageBytes());
    m_code.close();
    m_code.line("publishShared();");
  }
};

}  // namespace

HaloText::HaloText(const Instance& of, HaloProblem convolution, int kernel)
    : problem(std::move(convolution)),
      region(problem.region),
      shape(problem.shape),
      tiles(of),
      layout(problem, tiles, of.device),
      weights(problem, tiles),
      number(kernel),
      instance{of.pattern, region, of.parameters, of.device, of.model},
      writer(instance, Dialect::of(domain::Language::CudaCpp),
             {"advance",    "all",       "arriving", "ask",       "is_fresh", "asked",    "asked_round", "asked_step",
              "at",         "batch",     "behind",   "block",     "both",     "c",        "channel",     "column",
              "corner",     "deep",      "depth",    "e",         "empty",    "exponent", "exponent_of", "far",
              "finish",     "first",     "found",    "found_of",  "from",     "full",     "gathered",    "group",
              "half",       "halves",    "i",        "in",        "in_tile",  "is_again", "is_channel",  "is_empty",
              "is_fine",    "is_finite", "is_last",  "is_left",   "is_more",  "is_odd",   "is_right",    "is_row",
              "is_there",   "item",      "j",        "k",         "keep",     "kept",     "lane",        "largest",
              "largest_of", "lay_out",   "left",     "left_of",   "left_sum", "line",     "low",         "mean",
              "memory",     "more",      "most",     "n",         "odd",      "of",       "of_place",    "order",
              "other",      "outer",     "outer0",   "outer1",    "outer2",   "p",        "packed",      "pairs",
              "part",       "parts",     "pass",     "phase",     "piece",    "pixel",    "place",       "place1",
              "place2",     "place3",    "places",   "positions", "previous", "q",        "r",           "ready",
              "recent",     "right",     "right_of", "right_sum", "round_at", "row",      "s",           "scale",
              "scales",     "shared",    "shift",    "slot",      "slot_at",  "some",     "stage",       "staged",
              "stages",     "start",     "step",     "sum",       "table",    "tap",      "there",       "thread",
              "tile",       "to",        "total",    "turn",      "turn_of",  "twins",    "unscale",     "upper",
              "v",          "values",    "verdict",  "warp",      "x_at",     "x_first",  "x_in",        "x_next",
              "x_place",    "x_window",  "y",        "y_at",      "y_first",  "y_in",     "y_place",     "y_window",
              "below",      "zeros"}),
      code(writer.code()) {
  writer.numberApart();
  const Prim& right = primAt(shape.right);
  const std::string name =
      right.kind == Prim::Kind::Load ? writer.parameterOf(operandAt(right.operand)) : std::string("weight");
  planes = writer.unique(name + "_parts");
  exponents = writer.unique(name + "_exponents");
  findings = writer.unique("findings");
}

void HaloText::bindSum(const std::string& sum) {
  if (held >= 0) {
    writer.bind(held, {sum});
    return;
  }
  for (std::size_t prim = 0; prim < region.prims.size(); ++prim) {
    const Prim& self = region.prims[prim];
    if (self.kind == Prim::Kind::Folded && !region.folds[static_cast<std::size_t>(self.fold)].later) {
      writer.bind(static_cast<int>(prim), {sum});
    }
  }
}

void HaloText::collectLoads(int prim, std::set<int>& loads) const {
  if (prim == held) {
    return;
  }
  if (primAt(prim).kind == Prim::Kind::Load) {
    loads.insert(prim);
  }
  for (const int arg : primAt(prim).args) {
    collectLoads(arg, loads);
  }
}

void HaloText::bindFound(const std::string& at) {
  const std::vector<int> kept = keptOfFolds(problem);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    writer.bind(
        kept[i],
        {fmt::format("kept[{}{}]",
                     i == 0 ? "" : fmt::format("{} + ", static_cast<std::int64_t>(i) * tiles.pixels * problem.phases),
                     at)});
  }
}

std::string_view HaloText::storage() const {
  return writer.dialect().storageName(problem.input().dtype);
}

std::string_view HaloText::partStorage() const {
  return writer.dialect().storageName(weights.format.type);
}

void HaloText::openTiles(const std::string& condition) {
  code.open("for (int i = 0; {}find_{}(i, tile); ++i)", condition, number);
  if (isBatched()) {
    code.line("const int batch = tile.batch;");
    writer.decode("batch", problem.batch);
  }
}

void HaloText::locate() {
  std::int64_t inside = layout.tilesAcross;
  const std::string_view type = writer.index();
  code.line("const {} x_first = place % {} * {};", type, layout.tilesAcross, tiles.width());
  writer.bindAxis(problem.across().position, "x_first");
  if (problem.down() != nullptr) {
    code.line("const {} y_first = place / {} % {} * {};", type, inside, layout.tilesDown, tiles.height());
    writer.bindAxis(problem.down()->position, "y_first");
    inside *= layout.tilesDown;
  }
  for (std::size_t i = problem.dims.size() > 2 ? problem.dims.size() - 2 : 0; i-- > 0;) {
    const HaloDim& dim = problem.dims[i];
    code.line("const {} {} = place / {}{};", type, outerName(i), inside,
              i > 0 ? fmt::format(" % {}", dim.positions) : "");
    writer.bindAxis(dim.position, outerName(i));
    inside *= dim.positions;
  }
}

void HaloText::openSteps(const std::string& count) {
  code.open("for (int step = 0; step < {}; ++step)", count.empty() ? std::to_string(layout.steps) : count);
  nameFar();
}

void HaloText::nameFar() {
  if (problem.far() != nullptr) {
    code.line("const int far = step / {};", (problem.paddedChannels() / tiles.depth));
  }
}

int HaloText::openPhases(std::string_view pragma) {
  if (problem.phases == 1) {
    return 0;
  }
  code.pragma(pragma);
  code.open("for (int p = 0; p < {}; ++p)", problem.phases);
  writer.bindAxis(*problem.phase, "p");
  return 1;
}

std::string HaloText::weightsBatch(const std::string& p) const {
  if (problem.phases == 1) {
    return isBatched() ? "batch" : "";
  }
  return isBatched() ? fmt::format("(batch * {} + {})", problem.phases, p) : p;
}

std::string HaloText::stageNumber() const {
  const std::string step = problem.phases == 1 ? "step" : fmt::format("(step * {} + p)", problem.phases);
  return fmt::format("({} * {} + tap)", step, layout.ofPatch);
}

std::vector<std::string> HaloText::pairs() const {
  const std::vector<HaloPlace> places = layout.sortedPlaces(problem);
  std::vector<std::string> list;
  for (std::size_t i = 0; i < places.size(); i += 2) {
    const HaloPlace& next = places[std::min(i + 1, places.size() - 1)];
    list.push_back(fmt::format("{} + ({} << 16)", places[i].shift, next.shift - places[i].shift));
  }
  return list;
}

std::string HaloText::isEmptyTile() const {
  const std::string inside = insideAll(writer, problem.emptyBounds(), problem.batch);
  return inside.empty() ? std::string() : fmt::format("!({})", inside);
}

void HaloText::passOverEmpty() {
  if (const std::string isEmpty = isEmptyTile(); !isEmpty.empty()) {
    code.open("if ({})", isEmpty);
    code.line("continue;  // this phase has nothing of the window");
    code.close();
  }
}

std::string HaloText::firstChannel() const {
  const std::string block =
      problem.far() == nullptr ? "step" : fmt::format("step % {}", (problem.paddedChannels() / tiles.depth));
  return (problem.paddedChannels() / tiles.depth) == 1 ? "0" : fmt::format("{} * {}", block, tiles.depth);
}

void HaloText::openTaps(EmptyPlaces empty, const TapRange& range) {
  code.pragma("#pragma unroll 1");
  code.open("for (int tap = {}; tap < {}; ++tap)", range.first,
            range.end.empty() ? std::to_string(layout.taps) : range.end);
  const HaloDim& across = problem.across();
  const HaloDim* const down = problem.down();
  if (across.window) {
    code.line("const int x_place = tap{};", across.places < layout.taps ? fmt::format(" % {}", across.places) : "");
    writer.bindAxis(*across.window, "x_place");
  }
  if (down != nullptr && down->window) {
    code.line("const int y_place = tap{};", across.places > 1 ? fmt::format(" / {}", across.places) : "");
    writer.bindAxis(*down->window, "y_place");
  }
  if (problem.far() != nullptr) {
    writer.bindAxis(*problem.far()->window, "far");
  }
  if (!problem.hasPhases || empty == EmptyPlaces::Kept) {
    return;
  }
  Axes axes = shape.batch;
  axes.insert(axes.end(), shape.depth.begin(), shape.depth.end() - 1);
  code.open("if (!({}))", insideAll(writer, problem.weightBounds(), axes));
  code.line("continue;");
  code.close();
}

void HaloText::advanceStage() {
  code.line("stage = stage == {} ? 0 : stage + 1;", layout.stages - 1);
  code.line("phase ^= stage == 0;");
}

KernelText writeHaloConv(const Instance& instance, const Launch& launch, int number) {
  HaloText text(instance, *HaloProblem::of(instance.region, HaloTiles(instance).channels), number);
  return HaloKernels(text).run(launch);
}

}  // namespace swage::synth
