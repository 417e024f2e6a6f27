// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/services/compile_service.h"

namespace swage::testing {

class FakeCompileService : public services::CompileService {
 public:
  using services::CompileService::CompileService;

  [[nodiscard]] std::uint64_t compile(const services::DraftSource& draft) override {
    drafts.push_back(draft);
    return drafts.size();
  }
  void cancel() override { ++cancels; }

  // What an engine would do on its own, of the newest draft or an older one.
  void answer(const Result<domain::CompileOutcome>& outcome) { Q_EMIT compiled(drafts.size(), outcome); }
  void answerOlder(const Result<domain::CompileOutcome>& outcome) { Q_EMIT compiled(drafts.size() - 1, outcome); }

  std::vector<services::DraftSource> drafts;
  int cancels = 0;
};

}  // namespace swage::testing
