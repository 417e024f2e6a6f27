// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/synth/emit/kernel_writer.h"

namespace swage::synth::cuda {

// The folds of one stage as text of a CUDA kernel: what a thread has found so far in each of its lanes, how two such
// findings are joined, and what the values of the region are then. One sum, product, maximum or minimum is a number;
// other stages have a struct, defined inside the kernel.
//
// A sum has to stay within two roundings of the exact one, however long it is: the error of a sum that is made one by
// one grows with its length. So a lane adds up at most kRun elements, what it found goes into a total that keeps what
// rounding takes from it (Knuth 1969), and lanes and threads are joined in pairs.
class StageText {
 public:
  // Elements of a lane that are added up one by one.
  static constexpr std::int64_t kRun = 8;

  // Both must outlive it. `lanes`: findings of a thread, in an array where there are several.
  StageText(KernelWriter& writer, const Region& region, int stage, std::int64_t lanes);

  [[nodiscard]] std::vector<int> inputs() const;
  // Whether long runs lose something, so that they need a total.
  [[nodiscard]] bool losesDigits() const;
  // Whether accumulate() asks for 1 over the elements that the lane has then seen.
  [[nodiscard]] bool needsInverse() const;
  // Whether accumulate() asks for the position of the element.
  [[nodiscard]] bool needsPlace() const;

  // "float", or the name of the struct.
  [[nodiscard]] const std::string& type() const { return m_type; }
  // What has seen no element.
  [[nodiscard]] const std::string& none() const { return m_none; }
  // A function that joins two of them.
  [[nodiscard]] const std::string& join() const { return m_join; }
  [[nodiscard]] std::string joined(const std::string& a, const std::string& b) const;
  // What a thread has found, without a subscript.
  [[nodiscard]] const std::string& name() const { return m_name; }

  // Struct and function, where the stage is no number. `withTotals`: and what many of them add up to.
  enum class Totals : std::uint8_t { No, Yes };
  void define(Totals totals);
  // Lanes that have seen nothing.
  void declare();
  // Takes one element, of which the inputs have been computed, into a lane ("[v]", or empty where there is one).
  void accumulate(const std::string& lane, const std::string& inverse);
  // "sum[0] = sum[1] = 0.0f;"
  void clear();
  // All lanes as one, joined in pairs.
  [[nodiscard]] std::string lanesJoined() const;

  [[nodiscard]] std::string totalType() const;
  void declareTotal(const std::string& name);
  void addToTotal(const std::string& total, const std::string& one);
  [[nodiscard]] std::string settled(const std::string& total) const;

  // From here on the results of the stage are those of `found`.
  void bindResults(const std::string& found);
  // "row_sum": what a group has found.
  [[nodiscard]] std::string resultName(const std::string& group);

 private:
  struct Field {
    int fold;
    std::string role;  // "value", "place", "largest", "sum", "n", "mean", "m2"
    std::string name;
    std::string type;
    std::string none;
  };

  [[nodiscard]] const Fold& fold(int index) const { return m_region.folds[static_cast<std::size_t>(index)]; }
  [[nodiscard]] Compute computeOf(int fold) const;
  [[nodiscard]] bool losesDigits(int fold) const;
  [[nodiscard]] bool isNumber() const { return m_fields.size() == 1; }
  void addFields(int fold);
  void addField(int fold, const std::string& role, const std::string& wanted, std::string type, std::string none);
  [[nodiscard]] const Field& field(int fold, std::string_view role) const;
  // "moments[v].mean", or "sum[v]" of a number.
  [[nodiscard]] std::string in(const std::string& variable, int fold, std::string_view role) const;
  [[nodiscard]] std::string structComment() const;
  [[nodiscard]] bool isMeanOf(int folded, const Prim& prim) const;
  void defineJoin();
  void defineTotal();
  void joinFields(int fold, std::vector<std::string>& results);
  void totalFields(int fold, std::vector<std::string>& results);
  void accumulateFold(int fold, const std::string& variable, const std::string& inverse);
  [[nodiscard]] std::string pairwise(std::int64_t first, std::int64_t distance) const;

  KernelWriter& m_writer;
  const Region& m_region;
  std::int64_t m_lanes;
  std::vector<int> m_folds;
  std::vector<Field> m_fields;
  std::string m_type;
  std::string m_none;
  std::string m_join;
  std::string m_name;
  std::string m_total;  // struct of totals, where it has a name
};

}  // namespace swage::synth::cuda
