// SPDX-License-Identifier: Apache-2.0
#include "tests/core/synth/pattern_examples.h"

#include <gtest/gtest.h>

#include <map>

#include "core/synth/emit_region.h"
#include "tests/core/synth/graph_builder.h"
#include "tests/core/synth/lab.h"

namespace swage::synth {
namespace {

constexpr std::string_view kBegin = "//! swage:begin region\n";
constexpr std::string_view kEnd = "//! swage:end region\n";

struct Example {
  std::string text;
  domain::Shape shape;
};

Example exampleOf(const patterns::Pattern& pattern) {
  if (pattern.family == "map") {
    return {"silu(x) * y, float32[4096, 1024]", {4096, 1024}};
  }
  if (pattern.family == "column") {
    return {"softmax over dimension 1 of float32[16, 512, 1024]", {16, 512, 1024}};
  }
  static const std::map<std::string, domain::Shape> rows{
      {"row_warp", {4096, 512}},  {"row_cluster", {256, 32768}},    {"row_split", {4, 1048576}},
      {"row_gang", {4, 1048576}}, {"row_resident", {4096, 262144}}, {"split", {4, 1048576}},
  };
  const auto found = rows.find(pattern.id);
  const domain::Shape shape = found != rows.end() ? found->second : domain::Shape{1024, 4096};
  return {
      "softmax over the last dimension of float32[" + std::to_string(shape[0]) + ", " + std::to_string(shape[1]) + "]",
      shape};
}

}  // namespace

domain::Graph exampleGraph(const patterns::Pattern& pattern) {
  const Example example = exampleOf(pattern);
  GraphBuilder b;
  const auto x = b.input(example.shape);
  if (pattern.family == "map") {
    const auto y = b.input(example.shape);
    b.output(b.mul(b.silu(x), y));
  } else {
    b.output(b.softmax(x, pattern.family == "column" ? 1 : -1));
  }
  return b.graph();
}

std::string exampleSection(const patterns::Pattern& pattern) {
  const Lab lab(exampleGraph(pattern));
  Region program = lab.region(lab.fusion().greedyPartition().front());
  const patterns::Parameter* fused = pattern.parameter("fused");
  if (fused != nullptr && fused->standard != 0) {
    fuseStages(program);
  }
  return "// Generated, as an example: " + exampleOf(pattern).text + "\n// clang-format off\n" +
         emitRegion(program, "example").source + "// clang-format on\n";
}

std::string regionSection(const std::string& source) {
  const std::size_t begin = source.find(kBegin);
  const std::size_t end = source.find(kEnd);
  if (begin == std::string::npos || end == std::string::npos) {
    ADD_FAILURE() << "the file has no section 'region'";
    return {};
  }
  return source.substr(begin + kBegin.size(), end - begin - kBegin.size());
}

std::string withRegionSection(const std::string& source, const std::string& section) {
  const std::size_t begin = source.find(kBegin);
  const std::size_t end = source.find(kEnd);
  if (begin == std::string::npos || end == std::string::npos) {
    ADD_FAILURE() << "the file has no section 'region'";
    return source;
  }
  return source.substr(0, begin + kBegin.size()) + section + source.substr(end);
}

std::string standaloneSource(const patterns::Pattern& pattern) {
  const std::string include =
      pattern.target == domain::Target::Cpu ? "#include \"../common.h\"\n" : "#include \"../common.cuh\"\n";
  const std::size_t at = pattern.source.find(include);
  if (at == std::string::npos) {
    ADD_FAILURE() << pattern.id << " does not include the common part";
    return pattern.source;
  }
  std::string source = pattern.source;
  return source.replace(at, include.size(), catalogue().prelude(pattern.target));
}

}  // namespace swage::synth
