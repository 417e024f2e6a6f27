// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string_view>

#include "core/device/open_device.h"
#include "core/domain/evaluation.h"
#include "core/verify/torch_runtime.h"
#include "core/wire/messages.h"
#include "tests/support/result_matchers.h"

// What tests of evaluations on a CPU begin and end with.
namespace swage::testing {

// libtorch and the CPU, with two threads. Null, and the test fails: one of them cannot be had.
[[nodiscard]] inline std::unique_ptr<device::Device> openCpu() {
  EXPECT_THAT(verify::startTorch(domain::DeviceKind::Cpu, 0, 2), IsOk());
  auto device = device::openDevice(domain::DeviceKind::Cpu, 0, 2);
  EXPECT_THAT(device, IsOk());
  return device ? std::move(*device) : nullptr;
}

// To load a task, with little time for each measurement.
[[nodiscard]] inline wire::LoadTask briefLoad(const domain::Task& task) {
  wire::LoadTask load;
  load.task = task;
  load.baseSeed = 1000;
  load.timingBudgetSeconds = 0.05;
  return load;
}

// What is wrong; the test fails where nothing is.
[[nodiscard]] inline domain::Wrong wrongOf(const domain::Evaluation& evaluation) {
  const auto* wrong = std::get_if<domain::Wrong>(&evaluation);
  EXPECT_NE(wrong, nullptr) << domain::summary(evaluation);
  return wrong != nullptr ? *wrong : domain::Wrong();
}

inline void expectCorrect(const domain::Evaluation& evaluation, std::string_view what) {
  const auto* wrong = std::get_if<domain::Wrong>(&evaluation);
  EXPECT_NE(domain::asCorrect(evaluation), nullptr)
      << what << ": " << domain::summary(evaluation) << ' ' << (wrong != nullptr ? wrong->detail : "");
}

}  // namespace swage::testing
