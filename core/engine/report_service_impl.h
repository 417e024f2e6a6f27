// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/answer_thread.h"
#include "core/services/report_service.h"

namespace swage::engine {

// Reports from a project's record, on a thread of its own. Destroying it waits for the report in progress.
class ReportServiceImpl final : public services::ReportService {
 public:
  [[nodiscard]] QFuture<Result<std::string>> report(const std::filesystem::path& project, domain::RunId run,
                                                    services::ReportFormat format) const override;

 private:
  mutable AnswerThread m_answers;
};

// The same at once, on the calling thread.
[[nodiscard]] Result<std::string> makeReport(const std::filesystem::path& project, domain::RunId run,
                                             services::ReportFormat format);

}  // namespace swage::engine
