// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/synth/emit/kernel_writer.h"

// Text of CUDA kernels that move neighbours along the innermost axis as vectors.
namespace swage::synth::cuda {

// Whether what is read or written should leave the caches first.
enum class Caching : std::uint8_t { Stay, Leave };

// Marks what computing the prim needs, itself included. One flag for each prim of the region.
void markNeeded(const Region& region, int prim, std::vector<bool>& needed);

// Whether `width` neighbours along the innermost axis can be loaded in front of the loop over them: where an operand
// has bounds, because they are inside of these together, or outside.
[[nodiscard]] bool comesTogether(const Operand& operand, std::int64_t width);
// Whether all operands that lie so can be moved in vectors of this width. Others are read one by one.
[[nodiscard]] bool allowsVectors(const Region& region, std::int64_t width);

// The elements of a region in the registers of a thread, `width` neighbours at a time (one: no vectors). A strategy
// writes the loops and binds the coordinates of the first of the neighbours; this writes how they come and go.
class Elements {
 public:
  // Both must outlive it.
  Elements(KernelWriter& writer, const Region& region, std::int64_t width);

  [[nodiscard]] std::int64_t width() const { return m_width; }
  // The loads of single elements that these prims need, in order.
  [[nodiscard]] std::vector<int> loadsFor(const std::vector<int>& prims) const;
  // Of these, those of which no two elements share a value, and the others.
  [[nodiscard]] std::vector<int> streamed(const std::vector<int>& loads) const;
  [[nodiscard]] std::vector<int> shared(const std::vector<int>& loads) const;

  // Arrays for the elements of several steps: "Vec<float, 4> x4[8];".
  void declare(const std::vector<int>& loads, std::int64_t steps);
  // Reads elements at the coordinates that are bound now, into the arrays at `subscript` ("[u]"), or into variables
  // that are declared here where it is empty. `streamed` is for those of which no two elements share a value.
  void load(const std::vector<int>& loads, const std::string& subscript, Caching streamed);
  // The same, from where a pattern keeps them as floats: "cache[k]" is the first.
  void loadFrom(int load, const std::string& place);
  // Reads elements and keeps them there.
  void copyTo(int load, const std::string& place);

  // Opens the loop over the neighbours; inside it each load stands for one element.
  void openLanes(const std::vector<int>& loads, const std::string& subscript);
  void closeLanes();

  // Computes what is stored for each element and stores it at the coordinates that are bound now.
  void evaluate(const std::vector<int>& loads, const std::string& subscript, Caching results);

  // The address of the first of the neighbours: "&x[row * 4096 + k]".
  [[nodiscard]] std::string address(const Operand& operand) const { return "&" + m_writer.element(operand); }
  [[nodiscard]] std::string address(int load) const { return address(operandOf(load)); }
  [[nodiscard]] const std::string& parameterOf(int load) const { return m_writer.parameterOf(operandOf(load)); }
  // "float", or "Vec<float, 4>".
  [[nodiscard]] std::string typeOf(const Operand& operand) const;

 private:
  [[nodiscard]] const Prim& prim(int index) const { return m_region.prims[static_cast<std::size_t>(index)]; }
  [[nodiscard]] const Operand& operandOf(int load) const;
  [[nodiscard]] bool isVector(const Operand& operand) const;
  [[nodiscard]] std::int64_t bytes(const Operand& operand) const;
  [[nodiscard]] const std::string& nameOf(int load) const { return m_names.at(load); }
  [[nodiscard]] std::string laneOf(const std::string& name, const Operand& operand, const std::string& subscript) const;
  void loadStrided(const Operand& operand, const std::string& target);
  void loadBounded(const Operand& operand, const std::string& target);
  void bindLoads(const std::vector<int>& loads, const std::string& subscript);

  KernelWriter& m_writer;
  const Region& m_region;
  std::int64_t m_width;
  std::map<int, std::string> m_names;  // of loads
  std::set<int> m_held;                // loads that are in variables; others are read where they are used
  std::set<int> m_floats;              // those that are kept as floats
  std::vector<KernelWriter::Scope> m_outside;
};

}  // namespace swage::synth::cuda
