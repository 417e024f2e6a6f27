// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QPromise>

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/services/export_check_service.h"
#include "core/services/export_service.h"
#include "tests/support/slow_answers.h"

namespace swage::testing {

// Answers at once, or with answerAll() while isSlow.
class FakeExportService : public services::ExportService, public SlowAnswers {
 public:
  [[nodiscard]] QFuture<Result<services::ExportFacts>> facts(const std::filesystem::path& project,
                                                             domain::CandidateId candidate) const override {
    asked = project;
    return later<services::ExportFacts>([this, candidate]() -> Result<services::ExportFacts> {
      services::ExportFacts answer = factRows;
      answer.candidate = candidate;
      return failure ? Result<services::ExportFacts>(*failure) : answer;
    });
  }
  [[nodiscard]] QFuture<Result<services::ExportFiles>> files(const std::filesystem::path&,
                                                             domain::CandidateId candidate,
                                                             services::ExportFormat wanted) const override {
    return later<services::ExportFiles>([this, candidate, wanted]() -> Result<services::ExportFiles> {
      return refusal ? Result<services::ExportFiles>(*refusal) : makeFiles(candidate, wanted);
    });
  }
  [[nodiscard]] QFuture<Result<>> write(const services::ExportFiles& files, const std::filesystem::path& target,
                                        services::ExistingFiles existing) const override {
    ++writes;
    exported = files.candidate;
    format = files.format;
    writtenTo = target;
    replaced = existing == services::ExistingFiles::Replace;
    return later<void>([this] { return writeFailure ? Result<>(*writeFailure) : Result<>(); });
  }

  mutable std::filesystem::path asked;
  mutable int writes = 0;
  mutable domain::CandidateId exported;
  mutable services::ExportFormat format = services::ExportFormat::ModelNew;
  mutable std::filesystem::path writtenTo;
  mutable bool replaced = false;
  services::ExportFacts factRows;
  std::optional<Error> failure;       // of facts()
  std::optional<Error> refusal;       // of files()
  std::optional<Error> writeFailure;  // of write()
  std::function<services::ExportFiles(domain::CandidateId, services::ExportFormat)> makeFiles =
      [](domain::CandidateId candidate, services::ExportFormat wanted) {
        return services::ExportFiles{candidate, wanted, "kernel_new.py", {{"kernel_new.py", "class ModelNew: ...\n"}}};
      };
};

class FakeExportCheckService : public services::ExportCheckService {
 public:
  using services::ExportCheckService::ExportCheckService;
  void start(const std::filesystem::path& folder, domain::CandidateId candidate) override {
    project = folder;
    running = candidate;
    ++starts;
  }
  void cancel() override { ++cancels; }
  [[nodiscard]] domain::CandidateId checking() const override { return running; }
  // What an engine would do on its own.
  void finish(const Result<>& done) { Q_EMIT finished(std::exchange(running, {}), done); }

  std::filesystem::path project;
  domain::CandidateId running;
  int starts = 0;
  int cancels = 0;
};

}  // namespace swage::testing
