// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QFuture>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/domain/candidate.h"

namespace swage::services {

enum class ReportFormat : std::uint8_t { Html, Markdown };
[[nodiscard]] std::string_view name(ReportFormat format);  // "html", "markdown"
[[nodiscard]] std::optional<ReportFormat> parseReportFormat(std::string_view text);

// Writes up a run: what was found, how it was measured and checked, and how to get it again. One text that needs
// nothing from outside. Every answer comes from a thread of the service's own, after milliseconds to a second.
class ReportService {
 public:
  virtual ~ReportService() = default;
  // InvalidInput or NotFound where there is no such run; Storage where the record cannot be read.
  [[nodiscard]] virtual QFuture<Result<std::string>> report(const std::filesystem::path& project, domain::RunId run,
                                                            ReportFormat format) const = 0;
};

}  // namespace swage::services
