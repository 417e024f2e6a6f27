// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/synth/region.h"

namespace swage::synth {

// How the axes of a region are walked.
enum class Form : std::uint8_t {
  Map,     // nothing is reduced
  Row,     // the innermost axis is reduced
  Column,  // the innermost axis numbers groups
};
[[nodiscard]] Form formOf(const RegionProgram& program);

// Extents of the three loops every pattern is written in: groups, reduced axes outside the innermost, innermost.
// Map: groups are all axes but the innermost. Row: `inner` is reduced. Column: `inner` numbers groups.
struct Loops {
  std::int64_t groups = 1;
  std::int64_t outer = 1;
  std::int64_t inner = 1;
};
[[nodiscard]] Loops loopsOf(const RegionProgram& program);

// One kernel argument: its position is the access order below.
struct KernelBuffer {
  domain::ValueId value;
  bool output = false;
};

struct RegionText {
  std::string source;                 // what replaces a pattern's example region
  std::vector<KernelBuffer> buffers;  // kernel arguments in order: inputs, then outputs
};

// The region as C++ text in the interface that the patterns are written against (patterns/README.md). Works for both
// targets: what differs is in their preludes.
[[nodiscard]] RegionText emitRegion(const RegionProgram& program, const std::string& entry);

// Properties patterns need to know before they are chosen.
// Whether an access walks along every axis, so that no two elements share its value.
[[nodiscard]] bool differsForEachElement(const RegionProgram& program, const Access& access);
// Per-element loads of the program in order.
[[nodiscard]] std::vector<int> elementLoads(const RegionProgram& program);
// Largest power of two, at most `limit`, by which the innermost axis can be cut so that every access stays aligned.
[[nodiscard]] int maxVectorWidth(const RegionProgram& program, int limit);
// Number of per-element loads that differ for every element (a broadcast weight does not count).
[[nodiscard]] int streamedLoads(const RegionProgram& program);
// Whether all streamed loads are computed in F32, so that a pattern can keep them on chip as floats.
[[nodiscard]] bool canCacheElements(const RegionProgram& program);
// The prim that the last stage reduces and the element stores use again, when it costs more to compute than to keep
// (the exponential of a softmax); -1: none.
[[nodiscard]] int keptPrim(const RegionProgram& program);
// Whether they are stored as neighbouring floats, so that they can be copied there as they are.
[[nodiscard]] bool canCopyElements(const RegionProgram& program);

}  // namespace swage::synth
