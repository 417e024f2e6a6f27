// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "core/engine/answer_thread.h"
#include "core/services/export_service.h"

namespace swage::engine {

// Exports from a project's record and the bundles its runs name, on a thread of its own. Opens both for each question,
// read-only. Destroying it waits for the question in progress and drops the others.
class ExportServiceImpl final : public services::ExportService {
 public:
  ExportServiceImpl() = default;
  ~ExportServiceImpl() override;
  ExportServiceImpl(const ExportServiceImpl&) = delete;
  ExportServiceImpl& operator=(const ExportServiceImpl&) = delete;

  [[nodiscard]] QFuture<Result<services::ExportFacts>> facts(const std::filesystem::path& project,
                                                             domain::CandidateId candidate) const override;
  [[nodiscard]] QFuture<Result<services::ExportFiles>> files(const std::filesystem::path& project,
                                                             domain::CandidateId candidate,
                                                             services::ExportFormat format) const override;
  [[nodiscard]] QFuture<Result<>> write(const services::ExportFiles& files, const std::filesystem::path& target,
                                        services::ExistingFiles existing) const override;

 private:
  mutable AnswerThread m_answers;
};

}  // namespace swage::engine
