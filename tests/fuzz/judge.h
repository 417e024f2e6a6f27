// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "tests/app/worker/worker_process.h"
#include "tests/fuzz/candidates.h"

namespace swage::fuzz {

// Asks a swage-worker whether candidates compute what PyTorch does: by the contract, between red zones, on several
// seeds, and in a process of its own, which is replaced when a candidate ends it.
class Judge {
 public:
  // `worker`: path of the program.
  explicit Judge(std::string worker) : m_worker(std::move(worker)) {}

  // Why PyTorch cannot run the case at all; empty when it can. The candidates that follow are of this case.
  [[nodiscard]] std::string load(const FuzzCase& which);
  // What is wrong with a candidate that was compiled into `binary` under the names in `plan`.
  [[nodiscard]] std::optional<Finding> judge(const domain::LaunchPlan& plan, const std::string& binary);

 private:
  [[nodiscard]] bool start();
  [[nodiscard]] std::string loadAgain();

  std::string m_worker;
  std::unique_ptr<testing::WorkerProcess> m_process;
  wire::LoadTask m_task;
  std::uint64_t m_request = 0;
  bool m_isLoaded = false;
};

}  // namespace swage::fuzz
