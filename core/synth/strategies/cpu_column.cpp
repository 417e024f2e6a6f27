// SPDX-License-Identifier: Apache-2.0
// Reductions over outer axes: neighbouring groups side by side, each in a lane of its own.
#include <algorithm>

#include "core/synth/emit/cpu_folds.h"
#include "core/synth/emit/cpu_loops.h"
#include "core/synth/emit/frame.h"
#include "core/synth/strategies/cpu_loops.h"

namespace swage::synth::cpu {
namespace {

// Writes one kernel. Where the last block is narrower than the others, a block is a function of its width.
class ColumnKernel {
 public:
  explicit ColumnKernel(const Instance& instance)
      : m_region(instance.region),
        m_axes(loopAxesOf(instance.region)),
        m_counts(m_axes.counts),
        m_block(std::min(instance.value("block", 1), m_counts.inner)),
        m_blocks((m_counts.inner + m_block - 1) / m_block),
        m_rest(m_counts.inner % m_block),
        m_isStreaming(instance.value("streaming") != 0),
        m_writer(instance, Dialect::of(domain::Language::Cpp), {"kWidth"}),
        m_code(m_writer.code()),
        m_plane(m_writer.unique("plane")),
        m_first(m_blocks > 1 ? m_writer.unique("first") : ""),
        m_outer(m_writer.unique("row")),
        m_lane(m_writer.unique("lane")),
        m_width(m_rest > 0 ? "kWidth" : std::to_string(m_block)) {}

  KernelText run(const std::string& entry) {
    m_code.comment(description());
    if (m_rest > 0) {
      const std::string function = entry + "_block";
      m_code.line("template <int kWidth>");
      m_code.open("static void {}({}, long long {}, long long {})", function, m_writer.parameters(), m_plane, m_first);
      if (!m_axes.groups.empty()) {
        m_writer.decode(m_plane, m_axes.groups);
      }
      block();
      m_code.close();
      m_code.blank();
      openCppKernel(m_writer, entry);
      openBlocks();
      callBlock(function);
    } else {
      openCppKernel(m_writer, entry);
      const bool isOne = m_counts.groups * m_blocks == 1;
      if (!isOne) {
        openBlocks();
        if (!m_axes.groups.empty()) {
          m_writer.decode(m_plane, m_axes.groups);
        }
      }
      block();
      if (!isOne) {
        m_code.close();
      }
    }
    if (m_isStreaming) {
      m_code.line("_mm_sfence();");
    }
    m_code.close();
    return m_writer.finish();
  }

 private:
  [[nodiscard]] std::string description() const {
    std::string text = fmt::format("{} columns of {} elements", m_counts.inner, m_counts.outer);
    if (m_counts.groups > 1) {
      text = fmt::format("{} times {}", m_counts.groups, text);
    }
    return fmt::format("{}: a thread takes {} neighbours at a time, each in a lane of its own.", text, m_block);
  }

  void openBlocks() {
    m_code.pragma("#pragma omp parallel for schedule(static)");
    if (m_counts.groups == 1 && m_rest == 0) {
      m_code.open("for (long long {0} = 0; {0} < {1}; {0} += {2})", m_first, m_counts.inner, m_block);
    } else if (m_blocks == 1) {
      m_code.open("for (long long {0} = 0; {0} < {1}; ++{0})", m_plane, m_counts.groups);
    } else {
      const std::string block = m_writer.unique("block");
      m_code.open("for (long long {0} = 0; {0} < {1}; ++{0})", block, m_counts.groups * m_blocks);
      m_code.line("const long long {} = {} / {};", m_plane, block, m_blocks);
      m_code.line("const long long {} = {} % {} * {};", m_first, block, m_blocks, m_block);
    }
  }

  void callBlock(const std::string& function) {
    m_code.open("if ({} + {} <= {})", m_first, m_block, m_counts.inner);
    m_code.line("{}<{}>({}, {}, {});", function, m_block, m_writer.arguments(), m_plane, m_first);
    m_code.otherwise();
    m_code.line("{}<{}>({}, {}, {});", function, m_rest, m_writer.arguments(), m_plane, m_first);
    m_code.close();
    m_code.close();
  }

  void block() {
    keepValues(-1);
    for (int stage = 0; stage < m_region.stageCount(); ++stage) {
      reduce(stage);
    }
    if (!m_region.groupStores.empty()) {
      const KernelWriter::Scope outside = m_writer.scope();
      openLanes();
      std::string isFirst = m_counts.groups == 1 ? "" : m_plane + " == 0 && ";
      isFirst += (m_first.empty() ? m_lane : m_first + " + " + m_lane) + " == 0";
      storeGroup(m_writer, m_region, isFirst);
      m_code.close();
      m_writer.leave(outside);
    }
    if (!m_region.elementStores.empty()) {
      map();
    }
  }

  // One pass over all rows.
  void reduce(int stage) {
    LaneFolds folds(m_writer, m_region, stage, {m_lane, m_width}, m_counts.outer);
    m_code.blank();
    m_code.comment(fmt::format("{}: {} of each column.", stage == 0 ? "Down the rows" : "Again, now from the caches",
                               folds.what()));
    folds.declare();
    const KernelWriter::Scope outside = m_writer.scope();
    if (folds.hasRuns()) {
      const std::string run = m_writer.unique("run");
      m_code.open("for (long long {0} = 0; {0} < {1}; {0} += {2})", run, m_counts.outer, LaneFolds::kRun);
      folds.beginRun();
      const std::string last = fmt::format("{} + {}", run, LaneFolds::kRun);
      rows(folds, run,
           m_counts.outer % LaneFolds::kRun == 0 ? last : fmt::format("std::min({}, {}LL)", last, m_counts.outer));
      folds.endRun(m_width);
      m_code.close();
    } else {
      rows(folds, "0", std::to_string(m_counts.outer));
    }
    m_writer.leave(outside);
    folds.settle();
    folds.bindLanes(m_region.reducedCount());
    keepValues(stage);
  }

  void rows(LaneFolds& folds, const std::string& first, const std::string& last) {
    const KernelWriter::Scope outside = m_writer.scope();
    openOuter(first, last);
    folds.beginStep();
    openLanes();
    folds.accumulate();
    m_code.close();
    closeOuter();
    m_writer.leave(outside);
  }

  void openOuter(const std::string& first, const std::string& last) {
    m_code.open("for (long long {0} = {1}; {0} < {2}; ++{0})", m_outer, first, last);
    m_writer.decode(m_outer, m_axes.outer);
  }
  void closeOuter() { m_code.close(); }

  void openLanes() {
    m_code.pragma("#pragma omp simd");
    m_code.open("for (int {0} = 0; {0} < {1}; ++{0})", m_lane, m_width);
    if (m_first.empty()) {
      m_writer.bindAxis(*m_axes.inner, m_lane);
      return;
    }
    const std::string column = m_writer.unique("column");
    m_code.line("const long long {} = {} + {};", column, m_first, m_lane);
    m_writer.bindAxis(*m_axes.inner, column);
  }

  // Values of a column that later loops read and that cost something get an array. Loads are made where they are read.
  void keepValues(int stage) {
    std::vector<int> values;
    for (const int value : keptGroupValues(m_region, stage)) {
      const Prim& prim = m_region.prims[static_cast<std::size_t>(value)];
      const bool isThere = prim.kind == Prim::Kind::Folded && m_writer.value(value).text.find('(') == std::string::npos;
      if (prim.kind != Prim::Kind::Load && !isThere) {
        values.push_back(value);
      }
    }
    if (values.empty()) {
      return;
    }
    std::vector<std::string> names;
    for (const int value : values) {
      names.push_back(m_writer.nameFor(value));
      m_code.line("{} {}[{}];", m_writer.dialect().typeName(m_region.prims[static_cast<std::size_t>(value)].type),
                  names.back(), m_width);
    }
    const KernelWriter::Scope outside = m_writer.scope();
    openLanes();
    for (std::size_t i = 0; i < values.size(); ++i) {
      m_writer.compute({values[i]});
      m_code.line("{}[{}] = {};", names[i], m_lane, m_writer.value(values[i]).text);
      m_writer.bind(values[i], {fmt::format("{}[{}]", names[i], m_lane)});
    }
    m_code.close();
    m_writer.leave(outside);
    for (std::size_t i = 0; i < values.size(); ++i) {
      m_writer.bind(values[i], {fmt::format("{}[{}]", names[i], m_lane)});
    }
  }

  void map() {
    const KernelWriter::Scope outside = m_writer.scope();
    m_code.blank();
    m_code.comment(m_isStreaming ? "The results, a row of the block at a time, written past the caches."
                                 : "The results, from what is in the caches by now.");
    openOuter("0", std::to_string(m_counts.outer));
    ElementLoops(m_writer, m_region, m_isStreaming).tile(m_first.empty() ? "0" : m_first, m_width, m_width, m_lane);
    closeOuter();
    m_writer.leave(outside);
  }

  const Region& m_region;
  LoopAxes m_axes;
  Loops m_counts;
  std::int64_t m_block;
  std::int64_t m_blocks;
  std::int64_t m_rest;  // columns of the last block, where it is narrower
  bool m_isStreaming;
  KernelWriter m_writer;
  Code& m_code;
  std::string m_plane;
  std::string m_first;  // column of the block; empty: there is one block
  std::string m_outer;
  std::string m_lane;
  std::string m_width;  // of the block
};

class Column final : public CpuLoopStrategy {
 public:
  Column() : CpuLoopStrategy("column", Form::Column) {}

  [[nodiscard]] Example example() const override { return examples::columns(); }
  [[nodiscard]] Result<KernelText> write(const Instance& instance, const Launch& launch,
                                         int /*number*/) const override {
    return ColumnKernel(instance).run(launch.step.entry);
  }
};

}  // namespace

void addColumn(StrategyTable& table) {
  table.add(std::make_unique<Column>());
}

}  // namespace swage::synth::cpu
