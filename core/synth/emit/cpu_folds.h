// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/synth/emit/kernel_writer.h"

namespace swage::synth {

// The text of the folds of one stage on a processor: each lane of a loop of vector instructions folds its own elements
// into arrays, then the lanes become one.
//
// Sums of float32 are kept in double, which a processor converts about as fast as it loads. What cannot be kept so (the
// means of Welford's algorithm, the sums of exponentials beside a running maximum, sums of float64) is folded in runs
// of 16 elements for each lane, and a run goes into totals of twice the width or with what rounding takes from them.
class LaneFolds {
 public:
  static constexpr std::int64_t kRun = 16;

  // Names of the loops over lanes: their counter, and how many there are, as a number or a name.
  struct Lanes {
    std::string lane;
    std::string count;
  };
  // `steps`: elements that one lane sees at most. Writer and region must outlive this.
  LaneFolds(KernelWriter& writer, const Region& region, int stage, Lanes lanes, std::int64_t steps);

  // Whether the loops have to be cut into runs.
  [[nodiscard]] bool hasRuns() const { return m_hasRuns; }
  // Whether all lanes of a step must have seen the same number of elements of a run.
  [[nodiscard]] bool countsSteps() const { return m_countsSteps; }
  // Whether join() needs to know how many elements there were.
  [[nodiscard]] bool countsElements() const;
  // "sum", "maximum, sum": for comments.
  [[nodiscard]] std::string what() const;

  // Before the loops.
  void declare();
  // At the beginning of a run; only with hasRuns().
  void beginRun();
  // Before a loop over lanes; several times in one scope.
  void beginStep();
  // Inside that loop: takes the element whose coordinates are bound.
  void accumulate();
  // At the end of a run of which so many lanes have seen elements; only with hasRuns().
  void endRun(const std::string& lanes);

  // All lanes as one; there must be a power of two. `count`: elements that they have seen, as an expression in double.
  enum class Found : std::uint8_t { Something, MaybeNothing };
  void join(const std::string& count, Found found = Found::Something);
  // What each of so many threads has joined, where all of them find it.
  void declareShared(std::int64_t threads);
  void share(const std::string& thread);
  // What `threads` of them have found, as one; `count` as above, of all threads.
  void joinShared(const std::string& threads, const std::string& count);

  // Binds the results: what has been joined, or what each lane has found. `count`: elements of a group.
  void bindJoined(std::int64_t count);
  // After the last run, where lanes are not joined.
  void settle();
  void bindLanes(std::int64_t count);

 private:
  void declareSteps();

  struct State {
    const Fold* fold = nullptr;
    int index = 0;
    Compute type = Compute::F32;     // of the input
    bool isLong = false;             // goes into totals at the end of a run
    std::vector<std::string> parts;  // arrays of a run; the same as `whole` where there is none
    std::vector<std::string> whole;  // arrays of all
    std::vector<std::string> lost;   // arrays of what rounding took, beside `whole`
    std::vector<std::string> shared;
    std::vector<std::string> joined;  // values
  };
  using Texts = std::vector<std::string>;

  void name(State& state);
  // Of a field of the state: in a run and in all.
  [[nodiscard]] std::string_view fieldType(const State& state, std::size_t field, bool isPart) const;
  [[nodiscard]] std::string identity(const State& state, std::size_t field, Compute type) const;
  [[nodiscard]] Compute fieldCompute(const State& state, std::size_t field, bool isPart) const;
  void declareArrays(const State& state, const Texts& names, bool isPart);
  void take(const State& state);
  void addRun(const State& state);
  void addCompensated(const std::string& whole, const std::string& part, const std::string& lost);
  void merge(const State& state, const Texts& into, const Texts& from);
  void joinInPairs();
  void joinArrays(State& state, const Texts& arrays, const std::string& bound, const std::string& index,
                  const std::string& count, bool inVectors, Found found);
  void bindFields(const State& state, const Texts& fields, const std::vector<Compute>& types, std::int64_t count);
  [[nodiscard]] static std::string single(const State& state, Compute field, const std::string& text);

  KernelWriter& m_writer;
  Code& m_code;
  const Region& m_region;
  Lanes m_lanes;
  bool m_hasRuns = false;
  bool m_countsSteps = false;
  std::string m_steps;    // counts them
  std::string m_inverse;  // 1 over that
  std::vector<State> m_states;
};

}  // namespace swage::synth
