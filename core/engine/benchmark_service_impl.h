// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/answer_thread.h"
#include "core/services/benchmark_service.h"

namespace swage::engine {

// Destroying it waits for the file that is being read.
class BenchmarkServiceImpl final : public services::BenchmarkService {
 public:
  [[nodiscard]] QFuture<Result<services::BenchmarkResults>> read(const std::filesystem::path& file) const override;

 private:
  mutable AnswerThread m_answers;
};

// The same at once, on the calling thread.
[[nodiscard]] Result<services::BenchmarkResults> readBenchmark(const std::filesystem::path& file);

}  // namespace swage::engine
