// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/synth/region.h"

// What strategies need to know of a region before its text is written.
namespace swage::synth {

// How the axes of a region are walked.
enum class Form : std::uint8_t {
  Map,     // nothing is reduced
  Row,     // the innermost axis is reduced
  Column,  // the innermost axis numbers groups
};
[[nodiscard]] Form formOf(const Region& program);
// Whether it is a map or a reduction over whole tensors that is walked in this form.
[[nodiscard]] bool isWalkedIn(const Region& program, Form form);

// Whether it is a map of which elements are read from anywhere, or know where they are: whole tensors have better
// patterns.
[[nodiscard]] bool isGathered(const Region& program);

// Extents of the three loops every pattern is written in: groups, reduced axes outside the innermost, innermost.
// Map: groups are all axes but the innermost. Row: `inner` is reduced. Column: `inner` numbers groups.
struct Loops {
  std::int64_t groups = 1;
  std::int64_t outer = 1;
  std::int64_t inner = 1;
};
[[nodiscard]] Loops loopsOf(const Region& program);

// Whether an operand walks along every axis, so that no two elements share its value.
[[nodiscard]] bool differsForEachElement(const Region& program, const Operand& operand);
// Per-element loads of the program in order.
[[nodiscard]] std::vector<int> elementLoads(const Region& program);
// Largest power of two, at most `limit`, by which the innermost axis can be cut so that every operand stays aligned.
[[nodiscard]] int maxVectorWidth(const Region& program, int limit);
// Number of per-element loads that differ for every element (a broadcast weight does not count).
[[nodiscard]] int streamedLoads(const Region& program);
// Whether all streamed loads are computed in F32, so that a pattern can keep them on chip as floats.
[[nodiscard]] bool canCacheElements(const Region& program);
// The prim that the last stage reduces and the element stores use again, when it costs more to compute than to keep
// (the exponential of a softmax); -1: none.
[[nodiscard]] int keptPrim(const Region& program);
// Whether the prim divides the sum that `fold` finds (by itself or beside others) by the number of its elements.
[[nodiscard]] bool isMeanOf(const Region& program, const Prim& prim, int fold);
// Whether they are stored as neighbouring floats, so that they can be copied there as they are.
[[nodiscard]] bool canCopyElements(const Region& program);
// Whether one stage computes everything, with folds of one value each.
[[nodiscard]] bool isOneStage(const Region& region);

}  // namespace swage::synth
