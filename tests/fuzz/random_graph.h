// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tests/fuzz/graph_writer.h"

namespace swage::fuzz {

// The values that a graph has so far, and how the next operand is chosen among them.
class GraphDraft {
 public:
  explicit GraphDraft(std::uint64_t seed);

  [[nodiscard]] Random& random() { return m_random; }
  [[nodiscard]] GraphWriter& writer() { return m_writer; }
  // A value of the graph, late ones more often than early ones.
  [[nodiscard]] ValueId any();
  // One of floating type, or no value after some attempts.
  [[nodiscard]] std::optional<ValueId> floating();
  // One that broadcasts against `other`: a value, or a new input for it.
  [[nodiscard]] ValueId partner(ValueId other);
  // A mask of this shape or one that broadcasts to it: a comparison made before, or a new input.
  [[nodiscard]] ValueId mask(const Shape& shape);
  void keep(ValueId value) { m_values.push_back(value); }
  void keep(const std::vector<ValueId>& values);
  // A number for a scalar argument: mostly plain, now and then an infinity or a zero.
  [[nodiscard]] double number();

  // The first inputs.
  void begin();
  void chooseOutputs();

 private:
  [[nodiscard]] ScalarType someType();
  [[nodiscard]] Shape shrunk(const Shape& shape);

  Random m_random;
  GraphWriter m_writer;
  ScalarType m_mainType = ScalarType::Float32;
  std::vector<ValueId> m_values;
};

// Appends a random node or a few that belong together; false where the operands at hand do not fit.
[[nodiscard]] bool addRandomNode(GraphDraft& draft);

// The families of addRandomNode, each in a file of its own.
[[nodiscard]] bool addPointwise(GraphDraft& draft);
[[nodiscard]] bool addReduction(GraphDraft& draft);
[[nodiscard]] bool addNormalisation(GraphDraft& draft);
[[nodiscard]] bool addLoss(GraphDraft& draft);
// Products, convolutions, pooling, scans, and moves of data.
[[nodiscard]] bool addNest(GraphDraft& draft);
// Chains of nodes that a rewrite of the graph shortens.
[[nodiscard]] bool addRewritable(GraphDraft& draft);
// Operators that Swage leaves to PyTorch: views and others, so that regions end in the middle of a graph.
[[nodiscard]] bool addForeign(GraphDraft& draft);

}  // namespace swage::fuzz
