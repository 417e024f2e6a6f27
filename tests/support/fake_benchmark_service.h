// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QPromise>

#include "core/services/benchmark_service.h"

namespace swage::testing {

// Answers at once with what it holds.
class FakeBenchmarkService : public services::BenchmarkService {
 public:
  [[nodiscard]] QFuture<Result<services::BenchmarkResults>> read(const std::filesystem::path& file) const override {
    asked = file;
    QPromise<Result<services::BenchmarkResults>> promise;
    promise.start();
    promise.addResult(answer);
    promise.finish();
    return promise.future();
  }

  Result<services::BenchmarkResults> answer = services::BenchmarkResults{};
  mutable std::filesystem::path asked;
};

}  // namespace swage::testing
