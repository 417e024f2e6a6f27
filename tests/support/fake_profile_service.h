// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <utility>

#include "core/services/compare_service.h"
#include "core/services/profile_service.h"

namespace swage::testing {

// Profiles without an engine: tests set what it knows and say when one is finished.
class FakeProfileService : public services::ProfileService {
 public:
  using services::ProfileService::ProfileService;

  [[nodiscard]] Result<std::optional<services::ProfileReport>> report(domain::CandidateId candidate) const override {
    if (failure) {
      return *failure;
    }
    const auto found = reports.find(candidate);
    return found == reports.end() ? std::optional<services::ProfileReport>() : found->second;
  }
  [[nodiscard]] Result<std::vector<services::ExportGate>> gates(domain::CandidateId) const override { return gateRows; }
  [[nodiscard]] Result<std::vector<std::string>> doubts(domain::RunId) const override { return doubtRows; }
  [[nodiscard]] Result<bool> skippedSelfTest(domain::RunId) const override { return isUntested; }
  void start(const std::filesystem::path& folder, domain::CandidateId candidate) override {
    project = folder;
    running = candidate;
    ++starts;
  }
  void cancel() override { ++cancels; }
  [[nodiscard]] domain::CandidateId profiling() const override { return running; }

  // What an engine would do on its own.
  void tell(services::ProfileProgress::Stage stage, double seconds) {
    Q_EMIT progressed(services::ProfileProgress{stage, seconds});
  }
  void finish(const Result<services::ProfileReport>& report) {
    const domain::CandidateId candidate = std::exchange(running, {});
    if (report) {
      reports[candidate] = *report;
    }
    Q_EMIT finished(candidate, report);
  }

  std::map<domain::CandidateId, services::ProfileReport> reports;
  std::vector<services::ExportGate> gateRows;
  std::vector<std::string> doubtRows;
  bool isUntested = false;       // the runs went without a self-test
  std::optional<Error> failure;  // of report()
  std::filesystem::path project;
  domain::CandidateId running;
  int starts = 0;
  int cancels = 0;
};

class FakeCompareService : public services::CompareService {
 public:
  [[nodiscard]] Result<std::optional<domain::CandidateId>> commonAncestor(domain::CandidateId,
                                                                          domain::CandidateId) const override {
    return ancestor;
  }
  std::optional<domain::CandidateId> ancestor;
};

}  // namespace swage::testing
