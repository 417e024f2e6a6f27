// SPDX-License-Identifier: Apache-2.0
// Reductions along the innermost axis in which all threads share each group, for few long ones.
#include <algorithm>

#include "core/synth/emit/cpu_folds.h"
#include "core/synth/emit/cpu_loops.h"
#include "core/synth/emit/frame.h"
#include "core/synth/strategies/cpu_loops.h"

namespace swage::synth::cpu {
namespace {

constexpr std::int64_t kMaxThreads = 256;

// Writes one kernel. The threads share slices of one element for each lane; the last slice of a run of the innermost
// axis may have fewer.
class SplitKernel {
 public:
  explicit SplitKernel(const Instance& instance)
      : m_region(instance.region),
        m_axes(loopAxesOf(instance.region)),
        m_counts(m_axes.counts),
        m_lanes(std::min(instance.value("lanes", 1), powerOfTwoFrom(m_counts.inner))),
        m_full(m_counts.inner / m_lanes * m_lanes),
        m_rest(m_counts.inner - m_full),
        m_slices((m_counts.inner + m_lanes - 1) / m_lanes),
        m_isStreaming(instance.value("streaming") != 0 && m_full > 0),
        m_writer(instance, Dialect::of(domain::Language::Cpp)),
        m_code(m_writer.code()),
        m_row(m_writer.unique("row")),
        m_outer(m_writer.unique("outer")),
        m_lane(m_writer.unique("lane")),
        m_thread(m_writer.unique("thread")),
        m_threads(m_writer.unique("threads")),
        m_begin(m_writer.unique("begin")),
        m_end(m_writer.unique("end")) {}

  KernelText run(const std::string& entry) {
    m_code.comment(fmt::format(
        "{} of {} elements: all threads share one at a time, each reduces its part in {} lanes "
        "and leaves what it found to all.",
        m_counts.groups == 1 ? "One row" : fmt::format("{} rows", m_counts.groups),
        m_counts.outer == 1 ? std::to_string(m_counts.inner) : fmt::format("{} x {}", m_counts.outer, m_counts.inner),
        m_lanes));
    openCppKernel(m_writer, entry);
    for (int stage = 0; stage < m_region.stageCount(); ++stage) {
      m_folds.emplace_back(m_writer, m_region, stage, LaneFolds::Lanes{m_lane, std::to_string(m_lanes)},
                           m_counts.outer * m_slices);
      m_folds.back().declareShared(kMaxThreads);
    }
    m_code.pragma(fmt::format("#pragma omp parallel num_threads(std::min(omp_get_max_threads(), {}))", kMaxThreads));
    m_code.openBlock();
    threadsShare();
    const bool isOne = m_counts.groups == 1;
    if (!isOne) {
      m_code.open("for (long long {0} = 0; {0} < {1}; ++{0})", m_row, m_counts.groups);
      m_writer.decode(m_row, m_axes.groups);
    }
    group(isOne);
    if (!isOne) {
      m_code.pragma("#pragma omp barrier");
      m_code.close();
    }
    if (m_isStreaming) {
      m_code.line("_mm_sfence();");
    }
    m_code.close();
    m_code.close();
    return m_writer.finish();
  }

 private:
  // A part of a run: the names of its first element and of the one behind the last.
  struct Part {
    std::string first;
    std::string last;
  };

  void threadsShare() {
    m_code.line("const long long {} = omp_get_num_threads();", m_threads);
    m_code.line("const long long {} = omp_get_thread_num();", m_thread);
    const std::int64_t slices = m_counts.outer * m_slices;
    if (m_counts.outer > 1) {
      m_code.comment(fmt::format("Of all slices of {} elements, {} to a run:", m_lanes, m_slices));
      m_code.line("const long long {} = {} * {} / {};", m_begin, slices, m_thread, m_threads);
      m_code.line("const long long {} = {} * ({} + 1) / {};", m_end, slices, m_thread, m_threads);
      return;
    }
    m_code.line("const long long {} = {} * {} / {} * {};", m_begin, slices, m_thread, m_threads, m_lanes);
    const std::string end = fmt::format("{} * ({} + 1) / {} * {}", slices, m_thread, m_threads, m_lanes);
    m_code.line("const long long {} = {};", m_end,
                m_rest > 0 ? fmt::format("std::min({}, {}LL)", end, m_counts.inner) : end);
  }

  void group(bool isOne) {
    defineValues(-1);
    for (int stage = 0; stage < m_region.stageCount(); ++stage) {
      reduce(m_folds[static_cast<std::size_t>(stage)], stage);
      defineValues(stage);
    }
    if (!m_region.groupStores.empty()) {
      const KernelWriter::Scope outside = m_writer.scope();
      m_code.open("if ({} == 0)", m_thread);
      storeGroup(m_writer, m_region, isOne ? "" : m_row + " == 0");
      m_code.close();
      m_writer.leave(outside);
    }
    if (!m_region.elementStores.empty()) {
      map();
    }
  }

  void defineValues(int stage) {
    for (const int value : keptGroupValues(m_region, stage)) {
      m_writer.define(value);
    }
  }

  // Opens a loop over the runs that a thread has parts of, where a row has several; the caller closes it.
  Part openRuns() {
    if (m_counts.outer == 1) {
      return {m_begin, m_end};
    }
    m_code.open("for (long long {0} = {1} / {2}; {0} * {2} < {3}; ++{0})", m_outer, m_begin, m_slices, m_end);
    const Part part{m_writer.unique("from"), m_writer.unique("to")};
    m_code.line("const long long {} = std::max({} - {} * {}, 0LL) * {};", part.first, m_begin, m_outer, m_slices,
                m_lanes);
    m_code.line("const long long {} = std::min(({} - {} * {}) * {}, {}LL);", part.last, m_end, m_outer, m_slices,
                m_lanes, m_counts.inner);
    m_writer.decode(m_outer, m_axes.outer);
    return part;
  }
  void closeRuns() {
    if (m_counts.outer > 1) {
      m_code.close();
    }
  }

  // One pass of all threads over the row.
  void reduce(LaneFolds& folds, int stage) {
    m_code.blank();
    m_code.comment(fmt::format("{}: {}, first of what a thread has, then of what the threads found.",
                               stage == 0 ? "Once along the row" : "Again", folds.what()));
    const KernelWriter::Scope outside = m_writer.scope();
    m_code.openBlock();
    folds.declare();
    std::string seen;
    if (folds.countsElements()) {
      seen = m_writer.unique("seen");
      m_code.line("double {} = {};", seen,
                  m_counts.outer == 1 ? fmt::format("double({} - {})", m_end, m_begin) : "0.0");
    }
    // What all lanes take comes first where they must have seen the same number.
    const bool isApart = folds.countsSteps() && !folds.hasRuns() && m_counts.outer > 1 && m_rest > 0 && m_full > 0;
    pass(folds, isApart ? Take::Full : Take::All, m_counts.outer == 1 ? "" : seen);
    if (isApart) {
      pass(folds, Take::Rest, "");
    }
    folds.join(seen, LaneFolds::Found::MaybeNothing);
    folds.share(m_thread);
    m_code.close();
    m_writer.leave(outside);
    m_code.pragma("#pragma omp barrier");
    folds.joinShared(m_threads, fmt::format("{}.0", m_region.reducedCount()));
    folds.bindJoined(m_region.reducedCount());
  }

  enum class Take : std::uint8_t { All, Full, Rest };

  // `seen`: counts elements; empty: nothing does.
  void pass(LaneFolds& folds, Take take, const std::string& seen) {
    const KernelWriter::Scope outside = m_writer.scope();
    Part part = openRuns();
    if (!seen.empty()) {
      m_code.line("{} += double({} - {});", seen, part.last, part.first);
    }
    if (folds.hasRuns()) {
      const std::string run = m_writer.unique("run");
      const std::int64_t length = LaneFolds::kRun * m_lanes;
      m_code.open("for (long long {0} = {1}; {0} < {2}; {0} += {3})", run, part.first, part.last, length);
      const std::string last = m_writer.unique("last");
      m_code.line("const long long {} = std::min({} + {}, {});", last, run, length, part.last);
      part = {run, last};
      folds.beginRun();
    }
    if (m_full > 0 && take != Take::Rest) {
      const KernelWriter::Scope beforeSteps = m_writer.scope();
      const std::string first = openSteps(part);
      step(folds, first, m_lanes);
      m_code.close();
      m_writer.leave(beforeSteps);
    }
    if (m_rest > 0 && take != Take::Full) {
      m_code.open("if ({} == {})", part.last, m_counts.inner);
      step(folds, m_full == 0 ? "" : std::to_string(m_full), m_rest);
      m_code.close();
    }
    if (folds.hasRuns()) {
      folds.endRun(std::to_string(m_lanes));
      m_code.close();
    }
    closeRuns();
    m_writer.leave(outside);
  }

  // A loop over what fills all lanes.
  std::string openSteps(const Part& part) {
    const std::string first = m_writer.unique("first");
    const std::string inside =
        m_rest > 0 ? fmt::format("{} + {} <= {}", first, m_lanes, part.last) : fmt::format("{} < {}", first, part.last);
    m_code.open("for (long long {} = {}; {}; {} += {})", first, part.first, inside, first, m_lanes);
    return first;
  }

  // One element for each of `lanes` lanes, from `first` on.
  void step(LaneFolds& folds, const std::string& first, std::int64_t lanes) {
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
    folds.accumulate();
    m_code.close();
    m_writer.leave(outside);
  }

  void map() {
    const KernelWriter::Scope outside = m_writer.scope();
    m_code.blank();
    m_code.comment(m_isStreaming ? "The results of its part, a slice at a time, written past the caches."
                                 : "The results of its part, from what is in the caches by now.");
    ElementLoops loops(m_writer, m_region, m_isStreaming);
    const Part part = openRuns();
    if (m_isStreaming) {
      const std::string first = openSteps(part);
      loops.tile(first, std::to_string(m_lanes), std::to_string(m_lanes), m_lane);
      m_code.close();
      if (m_rest > 0) {
        m_code.open("if ({} == {})", part.last, m_counts.inner);
        loops.range(std::to_string(m_full), part.last);
        m_code.close();
      }
    } else {
      loops.range(part.first, part.last);
    }
    closeRuns();
    m_writer.leave(outside);
  }

  const Region& m_region;
  LoopAxes m_axes;
  Loops m_counts;
  std::int64_t m_lanes;
  std::int64_t m_full;  // elements of the innermost axis that fill all lanes, and the others
  std::int64_t m_rest;
  std::int64_t m_slices;  // of the innermost axis
  bool m_isStreaming;
  KernelWriter m_writer;
  Code& m_code;
  std::vector<LaneFolds> m_folds;  // of each stage
  std::string m_row;
  std::string m_outer;
  std::string m_lane;
  std::string m_thread;
  std::string m_threads;
  std::string m_begin;  // of what the thread has: elements, or slices where a row has several runs
  std::string m_end;
};

class Split final : public CpuLoopStrategy {
 public:
  Split() : CpuLoopStrategy("split", Form::Row) {}

  [[nodiscard]] Example example() const override { return examples::rows({4, 1048576}); }
  [[nodiscard]] Result<KernelText> write(const Instance& instance, const Launch& launch,
                                         int /*number*/) const override {
    return SplitKernel(instance).run(launch.step.entry);
  }
};

}  // namespace

void addSplit(StrategyTable& table) {
  table.add(std::make_unique<Split>());
}

}  // namespace swage::synth::cpu
