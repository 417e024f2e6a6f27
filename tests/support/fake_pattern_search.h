// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QPromise>

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/services/pattern_search_service.h"

namespace swage::testing {

// Answers at once, or when a test says so.
class FakePatternSearchService : public services::PatternSearchService {
 public:
  [[nodiscard]] QFuture<Result<services::FoundPatterns>> search(const std::string& question) override {
    questions.push_back(question);
    promises.emplace_back();
    promises.back().start();
    QFuture<Result<services::FoundPatterns>> future = promises.back().future();
    if (!waits) {
      answer(promises.size() - 1);
    }
    return future;
  }
  void answer(std::size_t which) {
    using Found = Result<services::FoundPatterns>;
    promises[which].addResult(failure ? Found(*failure)
                                      : Found(std::make_shared<const std::vector<domain::PatternEntry>>(entries)));
    promises[which].finish();
  }

  std::vector<domain::PatternEntry> entries;
  std::optional<Error> failure;
  bool waits = false;
  std::vector<std::string> questions;
  std::deque<QPromise<Result<services::FoundPatterns>>> promises;
};

// Of a catalogue, an earlier run, a compiler and a data sheet.
inline std::vector<domain::PatternEntry> demoFoundPatterns() {
  return {
      {.key = "catalogue/cuda/row_cluster",
       .origin = domain::PatternOrigin::Catalogue,
       .title = "row_cluster",
       .summary = "Reduction over long rows by a cluster of blocks, which exchange partial results in shared memory.",
       .body =
           "extern \"C\" __global__ void row_cluster(float* y, const float* x) {\n  // one row for each cluster\n}\n",
       .place = "patterns/cuda/row_cluster/pattern.toml",
       .operators = {"softmax", "sum"},
       .types = {"float32", "bfloat16"},
       .architectures = {"sm_90"},
       .bottlenecks = {"memory"}},
      {.key = "record/1",
       .origin = domain::PatternOrigin::Record,
       .title = "softmax_rows, 1.83 times as fast",
       .summary = "Won a search on this machine: one block for each row, which stays in registers.",
       .body = "extern \"C\" __global__ void kernel0(float* y, const float* x) {}\n",
       .place = "~/.local/share/swage/projects/softmax_rows, candidate 41",
       .operators = {"softmax"},
       .types = {"float32"},
       .architectures = {"sm_90"},
       .bottlenecks = {}},
      {.key = "inductor/1",
       .origin = domain::PatternOrigin::Inductor,
       .title = "triton_helpers.py: a helper of reductions",
       .summary = "Combines the largest value and the sum of two parts of a row.",
       .body = "def combine(a, b):\n    return a + b\n",
       .place = "torch/_inductor/runtime/triton_helpers.py:183",
       .operators = {"softmax"},
       .types = {},
       .architectures = {},
       .bottlenecks = {}},
      {.key = "data sheet/h100",
       .origin = domain::PatternOrigin::DataSheet,
       .title = "NVIDIA H100 SXM",
       .summary = "132 multiprocessors, 3.35 TB/s, 50 MB of L2 cache.",
       .body = "compute capability  9.0\nmultiprocessors  132\n",
       .place = "resources/devices/h100.toml",
       .operators = {},
       .types = {},
       .architectures = {"sm_90"},
       .bottlenecks = {}}};
}

}  // namespace swage::testing
