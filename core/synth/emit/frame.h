// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/synth/emit/kernel_writer.h"

// The first lines of a kernel, and what loops in both languages have in common.
namespace swage::synth {

// __global__, a block of so many threads; the caller closes it. `bounds`: what else the compiler may count on, such as
// ", 2" for two blocks on a multiprocessor; `more`: parameters after those of the region.
void openCudaKernel(KernelWriter& writer, const std::string& entry, std::int64_t threads,
                    const std::string& bounds = {}, const std::string& more = {});
// A function that takes its arguments from an array; the caller closes it.
void openCppKernel(KernelWriter& writer, const std::string& entry);

// The axes that are, or are not, folded away; outermost first.
[[nodiscard]] std::vector<std::size_t> foldedAxes(const Region& region);
[[nodiscard]] std::vector<std::size_t> freeAxes(const Region& region);
[[nodiscard]] std::vector<std::size_t> axesOf(const Region& region, AxisRole role);
// Product of their extents.
[[nodiscard]] std::int64_t positions(const Region& region, const std::vector<std::size_t>& axes);
// "n = 8, k = 3 x 3": what a comment says of the loops of a region.
[[nodiscard]] std::string extentsText(const Region& region, const std::vector<std::size_t>& axes);

// The folds of a region with one stage as variables that take one element at a time.
class FoldText {
 public:
  // `lanes`: one variable for each lane, written name[lane]; empty: one in all.
  FoldText(KernelWriter& writer, const Region& region, std::string lanes, std::string lane);

  void declare();
  // Adds the element for which the inputs have been computed.
  void accumulate();
  // Binds what has been found, from here on.
  void bindResults();
  [[nodiscard]] std::vector<int> inputs() const;

 private:
  struct Variable {
    std::string name;
    std::string place;  // of arg-reductions
    std::string type;
    Compute compute = Compute::F32;
  };
  [[nodiscard]] std::string at(const std::string& name) const {
    return m_lanes.empty() ? name : name + "[" + m_lane + "]";
  }
  [[nodiscard]] std::string start(const Fold& fold, Compute type) const;

  KernelWriter& m_writer;
  const Region& m_region;
  std::string m_lanes;
  std::string m_lane;
  std::vector<Variable> m_variables;
};

// Prims of all stores.
[[nodiscard]] std::vector<int> storedPrims(const std::vector<Store>& stores);

}  // namespace swage::synth
