// SPDX-License-Identifier: Apache-2.0
#include "core/services/report_service.h"

namespace swage::services {

std::string_view name(ReportFormat format) {
  switch (format) {
    case ReportFormat::Html: return "html";
    case ReportFormat::Markdown: return "markdown";
  }
  return "unknown";
}

std::optional<ReportFormat> parseReportFormat(std::string_view text) {
  for (const ReportFormat format : {ReportFormat::Html, ReportFormat::Markdown}) {
    if (name(format) == text) {
      return format;
    }
  }
  return std::nullopt;
}

}  // namespace swage::services
