// SPDX-License-Identifier: Apache-2.0
#include "tests/support/no_warnings.h"

#include <mutex>

#include "core/base/log.h"

namespace swage::testing {
namespace {

struct State {
  std::mutex mutex;
  std::vector<std::string> warnings;
  bool expected = false;
};

State& state() {
  static State instance;
  return instance;
}

}  // namespace

void NoWarnings::OnTestStart(const ::testing::TestInfo&) {
  {
    const std::lock_guard lock(state().mutex);
    state().warnings.clear();
    state().expected = false;
  }
  log::setObserver([](log::Level level, std::string_view message) {
    if (level >= log::Level::Warn) {
      recordWarning(std::string(message));
    }
  });
}

void NoWarnings::OnTestEnd(const ::testing::TestInfo&) {
  log::setObserver({});
  const std::lock_guard lock(state().mutex);
  if (state().expected) {
    return;
  }
  for (const std::string& warning : state().warnings) {
    ADD_FAILURE() << "the test logged a warning: " << warning;
  }
}

void expectWarnings() {
  const std::lock_guard lock(state().mutex);
  state().expected = true;
}

void recordWarning(std::string message) {
  const std::lock_guard lock(state().mutex);
  state().warnings.push_back(std::move(message));
}

}  // namespace swage::testing
