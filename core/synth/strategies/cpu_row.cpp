// SPDX-License-Identifier: Apache-2.0
// Reductions along the innermost axis, one group to a thread, and the map that follows.
#include <algorithm>

#include "core/synth/emit/cpu_folds.h"
#include "core/synth/emit/cpu_loops.h"
#include "core/synth/emit/frame.h"
#include "core/synth/strategies/cpu_loops.h"

namespace swage::synth::cpu {
namespace {

// Writes one kernel.
class RowKernel {
 public:
  explicit RowKernel(const Instance& instance)
      : m_region(instance.region),
        m_axes(loopAxesOf(instance.region)),
        m_counts(m_axes.counts),
        m_lanes(std::min(instance.value("lanes", 1), powerOfTwoFrom(m_counts.inner))),
        m_full(m_counts.inner / m_lanes * m_lanes),
        m_rest(m_counts.inner - m_full),
        m_tile(instance.value("tile", 1)),
        m_isStreaming(instance.value("streaming") != 0 && m_tile <= m_counts.inner),
        m_kept(instance.value("keep") != 0 ? keptPrim(instance.region) : -1),
        m_writer(instance, Dialect::of(domain::Language::Cpp)),
        m_code(m_writer.code()),
        m_row(m_writer.unique("row")),
        m_outer(m_writer.unique("outer")),
        m_lane(m_writer.unique("lane")),
        m_keptName(m_writer.unique("kept")) {}

  KernelText run(const std::string& entry) {
    m_code.comment(description());
    openCppKernel(m_writer, entry);
    const bool isOne = m_counts.groups == 1;
    if (!isOne) {
      m_code.pragma("#pragma omp parallel for schedule(static)");
      m_code.open("for (long long {0} = 0; {0} < {1}; ++{0})", m_row, m_counts.groups);
      m_writer.decode(m_row, m_axes.groups);
    }
    defineValues(-1);
    if (m_kept >= 0) {
      m_code.line("float {}[{}];", m_keptName, m_counts.inner);
    }
    for (int stage = 0; stage < m_region.stageCount(); ++stage) {
      reduce(stage);
      defineValues(stage);
    }
    storeGroup(m_writer, m_region, isOne ? "" : m_row + " == 0");
    if (!m_region.elementStores.empty()) {
      map();
    }
    if (!isOne) {
      m_code.close();
    }
    if (m_isStreaming) {
      m_code.line("_mm_sfence();");
    }
    m_code.close();
    return m_writer.finish();
  }

 private:
  [[nodiscard]] std::string description() const {
    const std::string length =
        m_counts.outer == 1 ? std::to_string(m_counts.inner) : fmt::format("{} x {}", m_counts.outer, m_counts.inner);
    return m_counts.groups == 1
               ? fmt::format("One row of {} elements, on one thread.", length)
               : fmt::format("{} rows of {} elements: a thread takes one at a time.", m_counts.groups, length);
  }

  void defineValues(int stage) {
    for (const int value : keptGroupValues(m_region, stage)) {
      m_writer.define(value);
    }
  }

  // One pass over the row.
  void reduce(int stage) {
    const std::int64_t steps = m_counts.outer * (m_full / m_lanes + (m_rest > 0 ? 1 : 0));
    LaneFolds folds(m_writer, m_region, stage, {m_lane, std::to_string(m_lanes)}, steps);
    m_code.blank();
    m_code.comment(fmt::format("{}: {} lanes side by side, each with the {} of its own elements.",
                               stage == 0 ? "Once along the row" : "Again, now from the caches", m_lanes,
                               folds.what()));
    folds.declare();
    if (!folds.hasRuns()) {
      inOneRun(folds, stage);
    } else if (m_full / m_lanes >= LaneFolds::kRun) {
      inRunsOfARow(folds, stage);
    } else {
      inRunsOfRows(folds, stage);
    }
    folds.join(fmt::format("{}.0", m_region.reducedCount()));
    folds.bindJoined(m_region.reducedCount());
  }

  void inOneRun(LaneFolds& folds, int stage) {
    // What all lanes take comes first where they must have seen the same number.
    const bool isApart = folds.countsSteps() && m_counts.outer > 1 && m_rest > 0 && m_full > 0;
    const KernelWriter::Scope outside = m_writer.scope();
    openOuter("0", m_counts.outer);
    steps(folds, stage, "0", std::to_string(m_full));
    if (isApart) {
      closeOuter();
      openOuter("0", m_counts.outer);
    }
    rest(folds, stage);
    closeOuter();
    m_writer.leave(outside);
  }

  // Runs are parts of the innermost axis; what does not fill all lanes is one of its own.
  void inRunsOfARow(LaneFolds& folds, int stage) {
    const KernelWriter::Scope outside = m_writer.scope();
    const std::int64_t length = LaneFolds::kRun * m_lanes;
    openOuter("0", m_counts.outer);
    const std::string run = m_writer.unique("run");
    m_code.open("for (long long {0} = 0; {0} < {1}; {0} += {2})", run, m_full, length);
    folds.beginRun();
    const std::string last = fmt::format("{} + {}", run, length);
    steps(folds, stage, run, m_full % length == 0 ? last : fmt::format("std::min({}, {}LL)", last, m_full));
    folds.endRun(std::to_string(m_lanes));
    m_code.close();
    if (m_rest > 0) {
      m_code.openBlock();
      folds.beginRun();
      rest(folds, stage);
      folds.endRun(std::to_string(m_rest));
      m_code.close();
    }
    closeOuter();
    m_writer.leave(outside);
  }

  // Runs are some positions of the outer axes.
  void inRunsOfRows(LaneFolds& folds, int stage) {
    const KernelWriter::Scope outside = m_writer.scope();
    const std::int64_t length = std::max<std::int64_t>(1, LaneFolds::kRun / (m_full / m_lanes + (m_rest > 0 ? 1 : 0)));
    const std::string run = m_writer.unique("run");
    m_code.open("for (long long {0} = 0; {0} < {1}; {0} += {2})", run, m_counts.outer, length);
    folds.beginRun();
    std::string last = fmt::format("{} + {}", run, length);
    last = m_counts.outer % length == 0 ? last : fmt::format("std::min({}, {}LL)", last, m_counts.outer);
    openOuter(run, last);
    steps(folds, stage, "0", std::to_string(m_full));
    if (folds.countsSteps() && m_rest > 0 && m_full > 0) {
      closeOuter();
      openOuter(run, last);
    }
    rest(folds, stage);
    closeOuter();
    folds.endRun(std::to_string(m_full > 0 ? m_lanes : m_rest));
    m_code.close();
    m_writer.leave(outside);
  }

  void openOuter(const std::string& first, const std::string& last) {
    if (m_counts.outer > 1) {
      m_code.open("for (long long {0} = {1}; {0} < {2}; ++{0})", m_outer, first, last);
      m_writer.decode(m_outer, m_axes.outer);
    }
  }
  void openOuter(const std::string& first, std::int64_t last) { openOuter(first, std::to_string(last)); }
  void closeOuter() {
    if (m_counts.outer > 1) {
      m_code.close();
    }
  }

  // Steps of all lanes, from one element of the innermost axis to another.
  void steps(LaneFolds& folds, int stage, const std::string& from, const std::string& to) {
    if (m_full == 0) {
      return;
    }
    if (m_full == m_lanes) {
      step(folds, stage, "", m_lanes);
      return;
    }
    const KernelWriter::Scope outside = m_writer.scope();
    const std::string first = m_writer.unique("first");
    m_code.open("for (long long {0} = {1}; {0} < {2}; {0} += {3})", first, from, to, m_lanes);
    step(folds, stage, first, m_lanes);
    m_code.close();
    m_writer.leave(outside);
  }

  // What does not fill all lanes.
  void rest(LaneFolds& folds, int stage) {
    if (m_rest > 0) {
      step(folds, stage, m_full == 0 ? "" : std::to_string(m_full), m_rest);
    }
  }

  // One element for each of `lanes` lanes, from `first` on.
  void step(LaneFolds& folds, int stage, const std::string& first, std::int64_t lanes) {
    const KernelWriter::Scope outside = m_writer.scope();
    folds.beginStep();
    m_code.pragma("#pragma omp simd");
    m_code.open("for (int {0} = 0; {0} < {1}; ++{0})", m_lane, lanes);
    std::string column = m_lane;
    if (!first.empty()) {
      column = m_writer.unique("column");
      m_code.line("const long long {} = {} + {};", column, first, m_lane);
    }
    if (m_axes.inner) {
      m_writer.bindAxis(*m_axes.inner, column);
    }
    if (m_kept >= 0 && stage + 1 == m_region.stageCount()) {
      m_writer.define(m_kept);
      m_code.line("{}[{}] = {};", m_keptName, column, m_writer.value(m_kept).text);
    }
    folds.accumulate();
    m_code.close();
    m_writer.leave(outside);
  }

  void map() {
    const KernelWriter::Scope outside = m_writer.scope();
    m_code.blank();
    m_code.comment(m_isStreaming
                       ? "The results, computed in a tile in the first-level cache and written past the caches."
                       : "The results, from what is in the caches by now.");
    ElementLoops loops(m_writer, m_region, m_isStreaming, [this](const std::string& column) {
      if (m_kept >= 0) {
        m_writer.bind(m_kept, {fmt::format("{}[{}]", m_keptName, column)});
      }
    });
    openOuter("0", m_counts.outer);
    const std::int64_t tiled = m_isStreaming ? m_counts.inner / m_tile * m_tile : 0;
    if (tiled > 0) {
      const std::string first = tiled > m_tile ? m_writer.unique("first") : "0";
      if (tiled > m_tile) {
        m_code.open("for (long long {0} = 0; {0} < {1}; {0} += {2})", first, tiled, m_tile);
      }
      loops.tile(first, std::to_string(m_tile), std::to_string(m_tile), m_lane);
      if (tiled > m_tile) {
        m_code.close();
      }
    }
    if (tiled < m_counts.inner) {
      loops.range(std::to_string(tiled), std::to_string(m_counts.inner));
    }
    closeOuter();
    m_writer.leave(outside);
  }

  const Region& m_region;
  LoopAxes m_axes;
  Loops m_counts;
  std::int64_t m_lanes;
  std::int64_t m_full;  // elements of the innermost axis that fill all lanes, and the others
  std::int64_t m_rest;
  std::int64_t m_tile;
  bool m_isStreaming;
  int m_kept;  // prim that the last stage keeps for the map; -1: none
  KernelWriter m_writer;
  Code& m_code;
  std::string m_row;
  std::string m_outer;
  std::string m_lane;
  std::string m_keptName;
};

class Row final : public CpuLoopStrategy {
 public:
  Row() : CpuLoopStrategy("row", Form::Row) {}

  [[nodiscard]] Result<KernelText> write(const Instance& instance, const Launch& launch,
                                         int /*number*/) const override {
    return RowKernel(instance).run(launch.step.entry);
  }
};

}  // namespace

void addRow(StrategyTable& table) {
  table.add(std::make_unique<Row>());
}

}  // namespace swage::synth::cpu
