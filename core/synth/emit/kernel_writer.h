// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/synth/emit/code.h"
#include "core/synth/emit/dialect.h"
#include "core/synth/strategy.h"

namespace swage::synth {

// One kernel being written: its parameters, the names in it, and what stands for each value at this point of the text.
// A strategy writes the loops; this writes what happens to an element inside them.
class KernelWriter {
 public:
  // Both must outlive the writer. `own`: names that the strategy gives to its variables.
  KernelWriter(const Instance& instance, const Dialect& dialect, std::initializer_list<std::string_view> own = {});

  [[nodiscard]] Code& code() { return m_code; }
  [[nodiscard]] const Dialect& dialect() const { return m_dialect; }
  [[nodiscard]] const std::vector<KernelBuffer>& buffers() const { return m_buffers; }

  // --- names and types
  // `wanted`, or with a number where something else has that name.
  [[nodiscard]] std::string unique(std::string wanted);
  // The type of coordinates: wide enough for every offset of every tensor.
  [[nodiscard]] std::string_view index() const { return m_index; }
  // Coordinates without a sign, which are cheaper to divide. Call it before the first coordinate is written.
  void countUnsigned() { m_index.insert(0, "unsigned "); }
  // Coordinates as wide as offsets in tensors need, where nothing numbers results and what each of them folds at once.
  // Call it before the first coordinate is written.
  void numberApart() { chooseIndexType(0); }
  // "const float* __restrict__ x, float* __restrict__ out"
  [[nodiscard]] std::string parameters() const;
  // Of some buffers, by their places in buffers().
  [[nodiscard]] std::string parameters(const std::vector<std::size_t>& places) const;
  // The buffers that a prim is computed from, without those behind the results of folds; in ascending order.
  [[nodiscard]] std::set<std::size_t> buffersOf(int prim) const;
  // "x, out": to pass them on.
  [[nodiscard]] std::string arguments() const;
  // C++ takes its arguments from an array of pointers to them: one line for each.
  void unpackArguments();

  // --- coordinates
  void bindAxis(std::size_t axis, std::string coordinate);
  // Empty where none is bound.
  [[nodiscard]] const std::string& coordinate(std::size_t axis) const { return m_axes[axis]; }
  // Cuts the number of a position along several axes (outermost first) into their coordinates.
  void decode(const std::string& number, const std::vector<std::size_t>& axes);

  // --- values
  // What stands for a prim from here on.
  void bind(int prim, Expression expression);
  // Loads what `roots` need, and gives names to what is used twice or is long. After that value() has all of them.
  void compute(const std::vector<int>& roots);
  [[nodiscard]] Expression value(int prim) const;
  // Computes a prim and gives it a name, for what is used in loops that follow.
  void define(int prim);
  // The name it would have there; taken from then on.
  [[nodiscard]] std::string nameFor(int prim);
  // compute(), and each in a variable, for loops further in that would compute it again and again.
  void computeOnce(const std::vector<int>& prims);
  // What the model or its kind of operation calls it, taken or not.
  [[nodiscard]] std::string nameOf(int prim) const;
  // The model's line of a prim as a comment, where the text has come to another one.
  void mentionLine(int prim);
  // Stores values that have been computed.
  void store(const std::vector<Store>& stores);
  // The same, into `place` instead of the tensor.
  void storeAt(const std::string& place, const Store& store);
  // What is stored, as it lies in memory.
  [[nodiscard]] std::string stored(const Store& store) const;
  // "x[row * 64 + k]", without regard to bounds.
  [[nodiscard]] std::string element(const Operand& operand) const;
  // The element where all bounds are kept, and the condition for that, empty where there are none. Coordinates get
  // names of their own.
  [[nodiscard]] std::string boundedElement(const Operand& operand, std::string& condition);
  // The position of an element in its group, in row-major order of the folded axes.
  [[nodiscard]] Expression placeInFold() const;
  // The name of the parameter that an operand lies in.
  [[nodiscard]] const std::string& parameterOf(const Operand& operand) const;

  // What is bound and named inside a block is forgotten at its end.
  struct Scope {
    std::vector<std::optional<Expression>> prims;
    std::vector<std::string> axes;
    std::set<std::string> taken;
    std::size_t decoded = 0;
  };
  [[nodiscard]] Scope scope() const { return {m_bound, m_axes, m_taken, m_decoded.size()}; }
  void leave(Scope scope);

  [[nodiscard]] KernelText finish() { return {m_code.take(), m_buffers}; }

 private:
  // A number that has been cut into coordinates.
  struct Decoded {
    std::string number;
    std::vector<std::size_t> axes;
    std::vector<std::string> coordinates;
  };

  void assignBuffers();
  [[nodiscard]] bool isNumbered(const Decoded& decoded, const std::vector<std::int64_t>& factors) const;
  void chooseIndexType(std::int64_t positions);
  [[nodiscard]] std::string sum(const std::vector<std::int64_t>& factors, std::int64_t offset) const;
  void load(int prim);
  void collect(int prim, std::vector<int>& order, std::vector<int>& uses) const;
  [[nodiscard]] std::string groupName(int prim) const;
  [[nodiscard]] std::string assignedNameOf(const Prim& prim) const;
  [[nodiscard]] bool isParameter(const std::string& name) const;
  [[nodiscard]] bool isByNumber(const Prim& prim) const;

  const Instance& m_instance;
  const Region& m_region;
  const Dialect& m_dialect;
  Code m_code;
  std::vector<KernelBuffer> m_buffers;
  std::vector<std::string> m_parameterNames;  // of m_buffers
  std::set<std::string> m_taken;
  std::vector<std::optional<Expression>> m_bound;  // of Region::prims
  std::vector<std::string> m_axes;                 // coordinates; empty: not known here
  std::vector<Decoded> m_decoded;
  std::string m_index = "int";
  std::string m_lastLine;  // of the model that has been named
  std::set<std::string> m_mentioned;
};

}  // namespace swage::synth
