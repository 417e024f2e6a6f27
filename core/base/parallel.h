// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace swage {

// Calls `work` with 0 to count - 1, each once and in no particular order, on as many threads as the machine has
// processors, and returns when all are done. `work` is called by several threads at once and must not throw.
template <class Work>
void inParallel(std::size_t count, const Work& work) {
  std::atomic<std::size_t> next = 0;
  const auto take = [&] {
    for (std::size_t item = next++; item < count; item = next++) {
      work(item);
    }
  };
  const std::size_t threads = std::min<std::size_t>(count, std::max(1U, std::thread::hardware_concurrency()));
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < threads; ++i) {
    others.emplace_back(take);
  }
  take();
}

}  // namespace swage
