// SPDX-License-Identifier: Apache-2.0
#include "tests/core/synth/pattern_examples.h"

#include <gtest/gtest.h>

#include "core/synth/emit_region.h"
#include "core/synth/example.h"
#include "tests/core/synth/lab.h"

namespace swage::synth {
namespace {

constexpr std::string_view kBegin = "//! swage:begin region\n";
constexpr std::string_view kEnd = "//! swage:end region\n";

}  // namespace

domain::Graph exampleGraph(const patterns::Pattern& pattern) {
  return exampleOf(pattern).graph;
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
  const std::string include = "#include \"../common.cuh\"\n";
  const std::size_t at = pattern.source.find(include);
  if (at == std::string::npos) {
    ADD_FAILURE() << pattern.id << " does not include the common part";
    return pattern.source;
  }
  std::string source = pattern.source;
  return source.replace(at, include.size(), catalogue().prelude(pattern.language));
}

}  // namespace swage::synth
