// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/domain/device_info.h"
#include "core/domain/graph.h"

// What the hardware allows at best (S. Williams, A. Waterman, D. Patterson, "Roofline: an insightful visual performance
// model for multicore architectures", CACM 52(4), 2009).
namespace swage::stats {

// The roof is what a perfect program of the usual kind needs: it reads every input and writes every output once, at the
// bandwidth of a copy, and does every operation of the graph's products at the peak of the arithmetic units. The share
// of the roof that a candidate reaches is roofNs over its time.
//
// The floor is below what any program can need, also one that is clever, because a candidate below it is called a
// cheat. So it only counts
// - inputs all of whose elements the outputs depend on: an operator that reads a part of its operand (a slice, a
// lookup,
//   a triangle, a pool) leaves everything behind it uncounted;
// - outputs without as many bytes as the L2 cache has: it is cold when a call begins, but written lines may stay in it;
// - 1.2 times the bandwidth of a copy: a pure read never turns the bus around, and paper bandwidth is 1.1 to 1.15 times
//   what copies reach;
// - the operations of the one largest product, if its operands are dense and only pointwise operators, softmax or
//   normalisations follow: a sum or another product behind it can be moved before it, and two products may share work.
//   A convolution counts with one tap, because transforms save the others (S. Winograd, "Arithmetic complexity of
//   computations", 1980), an attention with half, because it may be causal;
// - peaks by the clock that the architecture's fastest product has, TF32 for float32.
// On a CPU caches are larger than they say (several sockets, victim caches) and a copy moves three bytes for each two:
// four caches are left out there and the bandwidth is doubled. Its peak is not known.
struct Roofline {
  double bytes = 0.0;       // of all inputs and outputs, once
  double operations = 0.0;  // of all matrix products, convolutions and attentions; a multiply-add is two
  double roofNs = 0.0;      // 0: the device's bandwidth is not known
  double floorNs = 0.0;     // 0: nothing is impossible
};
[[nodiscard]] Roofline roofline(const domain::Graph& graph, const domain::DeviceInfo& device);

// Below this share of the floor a measurement is refused: clocks and counters are not exact to the last per mille.
inline constexpr double kFloorTolerance = 0.995;

// Operations a second of dense products of this type on the device's matrix units; 0: not known.
[[nodiscard]] double peakOperations(const domain::DeviceInfo& device, domain::ScalarType type);

}  // namespace swage::stats
