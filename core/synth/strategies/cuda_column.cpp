// SPDX-License-Identifier: Apache-2.0
// Reductions of which the innermost axis numbers the groups.
#include <algorithm>

#include "core/synth/emit/cuda_batch.h"
#include "core/synth/emit/cuda_elements.h"
#include "core/synth/emit/cuda_folds.h"
#include "core/synth/emit/frame.h"
#include "core/synth/emit/group_values.h"
#include "core/synth/strategies/cuda_loops.h"
#include "core/synth/strategies/loop_estimates.h"

namespace swage::synth::cuda {
namespace {

// Writes one kernel. Positions along the folded axes are `o`; `i` is the first of the neighbouring groups of a thread,
// and lane `v` of what it finds belongs to group i + v.
class ColumnText {
 public:
  explicit ColumnText(const Instance& instance)
      : m_region(instance.region),
        m_columns(instance.value("columns", 1)),
        m_rows(instance.value("rows", 1)),
        m_caching(instance.value("streaming") != 0 ? Caching::Leave : Caching::Stay),
        m_writer(instance, Dialect::of(domain::Language::CudaCpp),
                 {"column", "row", "batch", "i", "o", "v", "u", "first", "other", "isInside", "one_over_n"}),
        m_code(m_writer.code()),
        m_elements(m_writer, m_region, instance.value("vector_width", 1)),
        m_foldAxes(foldedAxes(m_region)),
        m_groupAxes(freeAxes(m_region)),
        m_inner(m_region.axes.size() - 1),
        m_length(m_region.reducedCount()),
        m_steps(divideUp(m_length, m_rows)),
        m_unroll(std::min(instance.value("unroll", 1), m_steps)) {
    m_groupAxes.pop_back();  // neighbours of a thread
    if (m_groupAxes.size() > 1 || m_foldAxes.size() > 1 || m_region.groupCount() * m_length > kMostNarrow) {
      m_writer.countUnsigned();
    }
    for (int stage = 0; stage < m_region.stageCount(); ++stage) {
      m_stages.push_back(std::make_unique<StageText>(m_writer, m_region, stage, width()));
    }
  }

  KernelText run(const std::string& entry) {
    m_code.comment(
        fmt::format("{} columns of {}, {} to a thread{}.", extentsText(m_region, freeAxes(m_region)),
                    extentsText(m_region, m_foldAxes), width(),
                    m_rows == 1 ? "" : fmt::format("; {} threads share them and meet in shared memory", m_rows)));
    openCudaKernel(m_writer, entry, m_columns * m_rows);
    place();
    settle(-1);
    for (std::size_t i = 0; i < m_stages.size(); ++i) {
      if (i > 0) {
        m_code.blank();
      }
      reduce(i);
    }
    m_code.blank();
    if (!isWhole()) {
      m_code.open("if (!isInside)");
      m_code.line("return;");
      m_code.close();
    }
    storeGroups();
    if (!m_region.elementStores.empty()) {
      map();
    }
    m_code.close();
    return m_writer.finish();
  }

 private:
  [[nodiscard]] std::int64_t width() const { return m_elements.width(); }
  [[nodiscard]] std::int64_t extent() const { return m_region.axes[m_inner].extent; }
  [[nodiscard]] std::int64_t tiles() const { return divideUp(extent() / width(), m_columns); }
  // Whether every thread has columns.
  [[nodiscard]] bool isWhole() const { return extent() % (width() * m_columns) == 0; }
  [[nodiscard]] std::string lane() const { return width() > 1 ? "[v]" : ""; }
  [[nodiscard]] bool isLong(const StageText& stage) const {
    return stage.losesDigits() && m_length > m_rows * StageText::kRun;
  }

  void place() {
    m_code.line("const int column = threadIdx.x{};", m_rows > 1 ? fmt::format(" % {}", m_columns) : "");
    if (m_rows > 1) {
      m_code.line("const int row = threadIdx.x / {};", m_columns);
    }
    std::string i = "column";
    if (tiles() > 1) {
      i = fmt::format("blockIdx.x{} * {} + column", m_groupAxes.empty() ? "" : fmt::format(" % {}", tiles()),
                      m_columns);
    }
    if (width() > 1) {
      i = tiles() > 1 ? fmt::format("({}) * {}", i, width()) : fmt::format("{} * {}", i, width());
    }
    if (isWhole()) {
      m_code.line("const {} i = {};", m_writer.index(), i);
    } else {
      m_code.line("const bool isInside = {} < {};", i, extent());
      m_code.line("const {} i = isInside ? {} : 0;", m_writer.index(), i);
    }
    m_writer.bindAxis(m_inner, "i");
    if (!m_groupAxes.empty()) {
      m_code.line("const {} batch = blockIdx.x{};", m_writer.index(), tiles() > 1 ? fmt::format(" / {}", tiles()) : "");
      m_writer.decode("batch", m_groupAxes);
    }
  }

  // Values of a group, for each of the groups of a thread.
  void settle(int ready) {
    const std::vector<int> prims = groupValues(m_region, ready);
    if (prims.empty()) {
      return;
    }
    if (width() == 1) {
      m_writer.computeOnce(prims);
      return;
    }
    std::vector<std::string> names;
    for (const int prim : prims) {
      names.push_back(m_writer.nameFor(prim));
      const Compute type = m_region.prims[static_cast<std::size_t>(prim)].type;
      m_code.line("{} {}[{}];", m_writer.dialect().typeName(type), names.back(), width());
    }
    m_elements.openLanes({}, "");
    m_writer.compute(prims);
    for (std::size_t i = 0; i < prims.size(); ++i) {
      m_writer.mentionLine(prims[i]);
      m_code.line("{}[v] = {};", names[i], m_writer.value(prims[i]).text);
    }
    m_elements.closeLanes();
    for (std::size_t i = 0; i < prims.size(); ++i) {
      m_writer.bind(prims[i], {names[i] + "[v]"});
    }
  }

  // Opens the loop down the columns, by batches of so many steps; the caller closes it.
  Batch openRows(std::int64_t unroll) {
    const std::string name = unroll > 1 ? "first" : "o";
    const std::string begin = m_rows > 1 ? "row" : "0";
    m_code.open("for ({0} {1} = {2}; {1} < {3}; {1} += {4})", m_writer.index(), name, begin, m_length, m_rows * unroll);
    const bool isEven = m_length % (m_rows * unroll) == 0;
    return {.first = name,
            .position = "o",
            .distance = m_rows,
            .count = unroll,
            .end = isEven || unroll == 1 ? "" : fmt::format("{}", m_length),
            .axes = m_foldAxes};
  }

  void reduce(std::size_t index) {
    StageText& stage = *m_stages[index];
    const bool isLongRun = isLong(stage);
    stage.define(isLongRun || m_rows > 1 ? StageText::Totals::Yes : StageText::Totals::No);
    stage.declare();
    const std::string total = isLongRun ? m_writer.unique("total") : "";
    if (isLongRun) {
      m_code.line("{} {}{};", stage.totalType(), total, width() > 1 ? fmt::format("[{}]", width()) : "");
    }
    const std::string steps = isLongRun || stage.needsInverse() ? m_writer.unique("steps") : "";
    if (!steps.empty()) {
      m_code.line("int {} = 0;", steps);
    }
    if (!isWhole()) {
      m_code.open("if (isInside)");
    }
    const Batch batch = openRows(m_unroll);
    take(stage, batch, steps);
    if (isLongRun) {
      m_code.open("if ({} >= {})", steps, StageText::kRun);
      addUp(stage, total);
      stage.clear();
      m_code.line("{} = 0;", steps);
      m_code.close();
    }
    m_code.close();
    if (!isWhole()) {
      m_code.close();
    }
    std::string own = stage.name() + lane();
    if (isLongRun) {
      addUp(stage, total);
      own = stage.settled(total + lane());
    }
    join(index, own, isLongRun);
    settle(static_cast<int>(index));
  }

  void take(StageText& stage, const Batch& batch, const std::string& steps) {
    const std::vector<int> loads = m_elements.loadsFor(stage.inputs());
    const auto accumulate = [&] {
      if (stage.needsInverse()) {
        m_code.line("const float one_over_n = inverseOf(++{});", steps);
      } else if (!steps.empty()) {
        m_code.line("++{};", steps);
      }
      m_elements.openLanes(loads, batch.subscript());
      m_writer.compute(stage.inputs());
      stage.accumulate(lane(), "one_over_n");
      m_elements.closeLanes();
    };
    if (batch.count > 1) {
      m_elements.declare(loads, batch.count);
      forEach(m_writer, batch, Position::Used, [&] { m_elements.load(loads, batch.subscript(), Caching::Leave); });
      const bool usesIndex = std::any_of(m_region.prims.begin(), m_region.prims.end(),
                                         [](const Prim& prim) { return prim.kind == Prim::Kind::Index; });
      forEach(m_writer, batch, stage.needsPlace() || usesIndex ? Position::Used : Position::Unused, accumulate);
    } else {
      forEach(m_writer, batch, Position::Used, [&] {
        m_elements.load(loads, "", Caching::Leave);
        accumulate();
      });
    }
  }

  // Each lane's run becomes part of its total.
  void addUp(StageText& stage, const std::string& total) {
    m_elements.openLanes({}, "");
    stage.addToTotal(total + lane(), stage.name() + lane());
    m_elements.closeLanes();
  }

  // What the threads of a column found together, in every one of them.
  void join(std::size_t index, const std::string& own, bool isLongRun) {
    StageText& stage = *m_stages[index];
    const std::string found = stage.resultName("column");
    const std::string size = width() > 1 ? fmt::format("[{}]", width()) : "";
    if (m_rows == 1) {
      if (!isLongRun) {
        stage.bindResults(own);
        return;
      }
      if (width() == 1) {
        m_code.line("const {} {} = {};", stage.type(), found, own);
      } else {
        m_code.line("{} {}{};", stage.type(), found, size);
        m_elements.openLanes({}, "");
        m_code.line("{}[v] = {};", found, own);
        m_elements.closeLanes();
      }
      stage.bindResults(found + lane());
      return;
    }
    const std::string parts = m_writer.unique("parts");
    const std::string sums = m_writer.unique("sums");
    m_code.line("__shared__ {} {}[{}][{}]{};", stage.type(), parts, m_rows, m_columns, size);
    m_elements.openLanes({}, "");
    m_code.line("{}[row][column]{} = {};", parts, lane(), own);
    m_elements.closeLanes();
    m_code.line("__syncthreads();");
    m_code.line("{} {}{};", stage.type(), found, size);
    m_elements.openLanes({}, "");
    stage.declareTotal(sums);
    m_code.open("for (int other = 0; other < {}; ++other)", m_rows);
    stage.addToTotal(sums, fmt::format("{}[other][column]{}", parts, lane()));
    m_code.close();
    m_code.line("{}{} = {};", found, lane(), stage.settled(sums));
    m_elements.closeLanes();
    stage.bindResults(found + lane());
  }

  void storeGroups() {
    if (m_region.groupStores.empty()) {
      return;
    }
    const auto isOne = [&](const Store& store) {
      const std::vector<std::int64_t>& strides = m_region.operands[static_cast<std::size_t>(store.operand)].strides;
      return std::all_of(strides.begin(), strides.end(), [](std::int64_t stride) { return stride == 0; });
    };
    if (m_rows > 1) {
      m_code.open("if (row == 0)");
    }
    m_elements.openLanes({}, "");
    m_writer.compute(storedPrims(m_region.groupStores));
    for (const Store& store : m_region.groupStores) {
      if (isOne(store)) {
        // One value for all groups is written by the first one only.
        m_code.open("if ({}i{} == 0)", m_groupAxes.empty() ? "" : "batch == 0 && ", width() > 1 ? " + v" : "");
        m_writer.store({store});
        m_code.close();
      } else {
        m_writer.store({store});
      }
    }
    m_elements.closeLanes();
    if (m_rows > 1) {
      m_code.close();
    }
  }

  void map() {
    const std::vector<int> loads = m_elements.loadsFor(storedPrims(m_region.elementStores));
    const Batch batch = openRows(1);
    forEach(m_writer, batch, Position::Used, [&] {
      m_elements.load(loads, "", Caching::Leave);
      m_elements.evaluate(loads, "", m_caching);
    });
    m_code.close();
  }

  const Region& m_region;
  std::int64_t m_columns;
  std::int64_t m_rows;
  Caching m_caching;
  KernelWriter m_writer;
  Code& m_code;
  Elements m_elements;
  std::vector<std::size_t> m_foldAxes;
  std::vector<std::size_t> m_groupAxes;  // but for the innermost
  std::size_t m_inner;
  std::int64_t m_length;
  std::int64_t m_steps;
  std::int64_t m_unroll;
  std::vector<std::unique_ptr<StageText>> m_stages;
};

class Column final : public LoopStrategy {
 public:
  Column() : LoopStrategy("column", Form::Column) {}

  [[nodiscard]] Example example() const override { return examples::columns(); }
  [[nodiscard]] Launch launch(const Instance& instance, const std::string& entry) const override {
    const Loops loops = loopsOf(instance.region);
    const std::int64_t vectors = loops.inner / instance.value("vector_width", 1);
    Launch launch = oneLaunch(entry);
    launch.step.grid.x = narrow(loops.groups * divideUp(vectors, instance.value("columns", 1)));
    launch.step.block.x = narrow(instance.value("columns", 1) * instance.value("rows", 1));
    return launch;
  }

  [[nodiscard]] Result<KernelText> write(const Instance& instance, const Launch& launch,
                                         int /*number*/) const override {
    return ColumnText(instance).run(launch.step.entry);
  }

  [[nodiscard]] std::optional<double> estimate(const Instance& instance) const override {
    const Loops loops = loopsOf(instance.region);
    const std::int64_t columns = instance.value("columns", 1);
    const std::int64_t rows = instance.value("rows", 1);
    const std::int64_t width = instance.value("vector_width", 1);
    const std::int64_t vectors = loops.inner / width;
    const std::int64_t blocks = loops.groups * divideUp(vectors, columns);
    // Threads beside the last column do nothing, and a short line takes parts of sectors.
    const double used = static_cast<double>(vectors) / static_cast<double>(divideUp(vectors, columns) * columns);
    constexpr double kBesideLine = 4.0;  // elements, half of a sector
    const auto line = static_cast<double>(std::min(columns, vectors) * width);
    return secondsOfGroups(instance, {.blocks = blocks,
                                      .threads = columns * rows,
                                      .registers = 32 + 2 * width * instance.value("unroll", 1),
                                      .steps = divideUp(loops.outer, rows),
                                      .atOnce = instance.value("unroll", 1)}) *
           (0.8 + 0.2 / used) * (1.0 + kBesideLine / line);
  }

 private:
  [[nodiscard]] Result<> fitsPattern(const Instance& instance) const override {
    const std::int64_t threads = instance.value("columns") * instance.value("rows");
    if (threads > 1024 || threads < kWarp) {
      return unfit("a block has 32 to 1024 threads");
    }
    std::int64_t stateBytes = 0;
    for (const Fold& fold : instance.region.folds) {
      stateBytes += fold.kind == FoldKind::Sum || fold.kind == FoldKind::Maximum ? 8 : 24;
    }
    if (instance.value("rows") > 1 && threads * instance.value("vector_width", 1) * stateBytes > (44 << 10)) {
      return unfit("the rows' states do not fit into shared memory");
    }
    return {};
  }
};

}  // namespace

void addColumn(StrategyTable& table) {
  table.add(std::make_unique<Column>());
}

}  // namespace swage::synth::cuda
