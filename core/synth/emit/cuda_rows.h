// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/synth/emit/cuda_batch.h"
#include "core/synth/emit/cuda_elements.h"
#include "core/synth/emit/cuda_folds.h"
#include "core/synth/emit/kernel_writer.h"

namespace swage::synth::cuda {

// What kernels for reductions along the innermost axis have in common. The elements of a group are numbered in
// row-major order of the folded axes; `k` is such a position, and vectors begin at multiples of their width.
class RowText {
 public:
  RowText(const RowText&) = delete;
  RowText& operator=(const RowText&) = delete;

 protected:
  explicit RowText(const Instance& instance);
  ~RowText() = default;

  // --- numbers
  [[nodiscard]] std::int64_t width() const { return m_elements.width(); }
  [[nodiscard]] std::int64_t vectors() const { return m_length / width(); }
  // The most elements that a lane sees where `threads` share so many vectors.
  [[nodiscard]] static std::int64_t stepsOf(std::int64_t vectors, std::int64_t threads) {
    return (vectors + threads - 1) / threads;
  }
  // " * 4", or nothing.
  [[nodiscard]] std::string timesWidth() const { return width() == 1 ? "" : fmt::format(" * {}", width()); }
  // Before products of what the device counts in 32 bits, where those are not enough.
  [[nodiscard]] std::string cast() const { return m_writer.index().ends_with("long long") ? "(long long)" : ""; }
  // "rows of 4096": what the first comment says of the region.
  [[nodiscard]] std::string rowsText() const;
  [[nodiscard]] Caching results() const { return m_streaming; }

  // --- groups
  // "const int row = blockIdx.x;", with its coordinates.
  void openGroup(const std::string& number);
  // Values of a group that stages from `ready` on, or its elements, need as soon as they can be known.
  void settle(int ready);
  // Stores what there is one of for each group, by the one thread for which `condition` holds.
  void storeGroup(const std::string& condition);
  [[nodiscard]] bool storesElements() const { return !m_region.elementStores.empty(); }

  // --- phases: one comment each on how data moves
  // "each lane reads its elements and folds them": of the first fold; those that follow do the same.
  void explainFold(std::size_t index, std::string_view how);
  // Of what storeGroup() writes, if anything.
  void explainGroup();

  // --- stages
  [[nodiscard]] std::size_t stages() const { return m_stages.size(); }
  [[nodiscard]] StageText& stage(std::size_t index) { return *m_stages[index]; }
  [[nodiscard]] std::vector<int> loadsOf(const StageText& stage) const { return m_elements.loadsFor(stage.inputs()); }
  [[nodiscard]] std::vector<int> storedLoads() const;
  // Whether the text of one element mentions its position.
  [[nodiscard]] Position positionIn(const StageText& stage) const;
  // Whether a lane that sees so many elements needs a total beside it.
  [[nodiscard]] static bool isLong(const StageText& stage, std::int64_t steps) {
    return stage.losesDigits() && steps > StageText::kRun;
  }
  // The variables of a thread.
  void declare(StageText& stage, bool isLong);
  // The same variables for another group.
  void restart(StageText& stage);
  // All lanes of one vector.
  void accumulate(StageText& stage, const std::vector<int>& loads, const std::string& subscript,
                  const std::string& inverse);
  // The same for step number `step` of so many, in a loop that is unrolled.
  void accumulateStep(StageText& stage, const std::vector<int>& loads, const std::string& subscript, std::int64_t steps,
                      bool isLong);
  // Ends a run of elements.
  void endRun(StageText& stage);
  // What the thread has found, after its last element.
  [[nodiscard]] std::string own(StageText& stage, bool isLong);
  // Shared memory for what so many warps have found. Stages of one type may use it in turn.
  enum class Sharing : std::uint8_t { InTurn, Own };
  [[nodiscard]] std::string parts(const StageText& stage, std::int64_t count, Sharing sharing = Sharing::InTurn);
  // Binds the group's result, found by a call such as reduceBlock(…).
  void found(StageText& stage, std::size_t index, const std::string& call);

  // --- slices of a group
  struct Slices {
    std::int64_t count = 1;
    std::int64_t vectors = 0;  // of one slice, but for the last
    bool areEqual = true;
  };
  [[nodiscard]] Slices slicesOf(std::int64_t count) const;
  // "begin" of slice `number`, an int, and "end" where that is used.
  enum class End : std::uint8_t { Used, Unused };
  void openSlice(const Slices& slices, const std::string& number, End end);

  // --- batches of vectors, asked for together
  struct Walk {
    std::string begin;         // expression of the thread's first position
    std::string end;           // expression: no vector begins there or later
    std::int64_t threads = 1;  // that take turns
    std::int64_t steps = 1;    // vectors of a thread at most
    std::int64_t unroll = 1;
    bool isWhole = false;  // every thread has so many
    // Reads elements; empty: from the tensors.
    std::function<void(const std::vector<int>& loads, const std::string& subscript)> fetch = {};
  };
  // Whether text of the walk mentions its end.
  [[nodiscard]] static End endOf(const Walk& walk) {
    return walk.steps > walk.unroll || !walk.isWhole ? End::Used : End::Unused;
  }
  [[nodiscard]] Walk walk(std::string begin, std::string end, std::int64_t threads, std::int64_t vectors,
                          std::int64_t unroll) const;
  // A walk of which every vector stands alone.
  void walkOnce(const Walk& walk, const std::function<void()>& body);
  void reduceBatches(StageText& stage, const Walk& walk, Caching streamed);
  void mapBatches(const Walk& walk, Caching streamed);

  // --- a group in the variables of threads, in a loop over steps that is unrolled
  // `all.count` vectors of each thread in arrays, from before the first stage on.
  void hold(const Batch& all);
  void reduceHeld(StageText& stage, const Batch& all, std::int64_t steps);
  void mapHeld(const Batch& all);
  // The same for a group that is read again.
  void reduceRead(StageText& stage, const Batch& all, std::int64_t steps);
  void mapRead(const Batch& all);

  const Instance& m_instance;
  const Region& m_region;
  KernelWriter m_writer;
  Code& m_code;
  Elements m_elements;
  std::vector<std::size_t> m_groupAxes;
  std::vector<std::size_t> m_foldAxes;
  std::int64_t m_groups;
  std::int64_t m_length;  // elements of a group

 private:
  [[nodiscard]] bool usesIndex(const std::vector<int>& prims) const;
  [[nodiscard]] std::string position() const;
  [[nodiscard]] std::string atMost(const std::string& number) const;
  Batch openBatches(const Walk& walk);
  void reduceSteps(StageText& stage, const Batch& all, std::int64_t steps, bool isHeld);
  void fetch(const Walk& walk, const std::vector<int>& loads, const std::string& subscript, Caching streamed);

  Caching m_streaming;
  std::vector<std::unique_ptr<StageText>> m_stages;
  std::map<std::string, std::string> m_parts;  // by type
  std::map<const StageText*, std::string> m_totals;
  std::string m_declared;  // first position of walks of one round
};

}  // namespace swage::synth::cuda
