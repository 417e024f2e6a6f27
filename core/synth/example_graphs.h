// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/domain/graph.h"

// Small graphs that show what patterns look like.
namespace swage::synth {

struct Example {
  domain::Graph graph;
  std::string text;         // says what it computes
  bool isOneRegion = true;  // else a pattern that it is of computes the last one
};

// A graph with one result.
class ExampleBuilder {
 public:
  explicit ExampleBuilder(domain::ScalarType type = domain::ScalarType::Float32) : m_type(type) {}

  // `strides`: in elements; empty: row-major.
  domain::ValueId input(std::string name, domain::Shape shape, domain::Shape strides = {});
  domain::ValueId call(std::string op, std::vector<domain::Argument> args, domain::Shape shape);
  [[nodiscard]] Example finish(domain::ValueId output, std::string text);

 private:
  domain::ValueId value(domain::Shape shape);

  domain::ScalarType m_type;
  domain::Graph m_graph;
};

// Those of more than one strategy; a strategy with another makes its own.
namespace examples {

[[nodiscard]] Example map();
// Softmax over the last of two dimensions, or over one that is not the last.
[[nodiscard]] Example rows(const domain::Shape& shape);
[[nodiscard]] Example columns();
[[nodiscard]] Example linear();
[[nodiscard]] Example pooling();
[[nodiscard]] Example convolution();
[[nodiscard]] Example concatenation();
[[nodiscard]] Example channelsLast();
[[nodiscard]] Example recurrent();
[[nodiscard]] Example attention(domain::ScalarType type);
[[nodiscard]] Example cumulativeSum(const domain::Shape& shape, std::int64_t dim);

}  // namespace examples
}  // namespace swage::synth
