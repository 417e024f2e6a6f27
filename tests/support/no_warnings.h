// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace swage::testing {

// Fails a test that logs at `warn` or above, unless the test said that it expects it.
class NoWarnings : public ::testing::EmptyTestEventListener {
 public:
  void OnTestStart(const ::testing::TestInfo& info) override;
  void OnTestEnd(const ::testing::TestInfo& info) override;
};

// Call inside a test that provokes a warning on purpose.
void expectWarnings();
// Adds to the messages that fail the running test; used by the Qt message handler.
void recordWarning(std::string message);

}  // namespace swage::testing
