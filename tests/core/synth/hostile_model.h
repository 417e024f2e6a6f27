// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>

#include "tests/core/synth/graph_builder.h"

namespace swage::synth {

// tanh(x + y) * x + tanh(…) over its last dimension's sum, with names and lines that are made to break kernels: words
// of C++, functions that kernels call, variables of kernels, and what ends a comment or goes on behind it.
inline domain::Graph hostileModel() {
  static constexpr std::array<std::array<const char*, 2>, 6> kText{{
      {"load", "load = x + y  # */ }"},
      {"requires", "requires = asm(__FILE__) \\"},
      {"row", "row = f(\"\"\"a\nfloat b = 1 / 0; #error ''' \"\"\")"},
      {"sum", "\xCF\x83 = x ?\?/"},
      {"\xCF\x83", "sum = x.sum() // \\ \\ "},
      {"blockIdx", "#include \"nothing.h\""},
  }};
  GraphBuilder b;
  const auto x = b.input({8, 64});
  const auto y = b.input({8, 64});
  const auto total = b.add(x, y);
  const auto bent = b.like("aten.tanh.default", total);
  const auto scaled = b.mul(bent, x);
  const auto sum = b.call("aten.sum.dim_IntList", {arg(scaled), listArg({-1}), arg(true)}, {8, 1});
  const auto root = b.like("aten.sigmoid.default", sum);
  b.output(b.add(b.mul(scaled, root), bent));
  domain::Graph graph = b.graph();
  graph.inputs[0].name = "store";
  graph.inputs[1].name = "lane";
  for (std::size_t node = 0; node < graph.nodes.size(); ++node) {
    const auto& [name, code] = kText[node % kText.size()];
    graph.nodes[node].where = "model.py:" + std::to_string(node + 4) + " in forward";
    graph.nodes[node].name = name;
    graph.nodes[node].code = code;
  }
  return graph;
}

}  // namespace swage::synth
