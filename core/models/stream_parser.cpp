// SPDX-License-Identifier: Apache-2.0
#include "core/models/stream_parser.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace swage::models {

Result<std::vector<std::string>> LineSplitter::feed(std::string_view bytes) {
  std::vector<std::string> lines;
  for (const char byte : bytes) {
    const bool belongsToReturn = std::exchange(m_afterReturn, false) && byte == '\n';
    if (belongsToReturn) {
      continue;
    }
    const bool isReturn = byte == '\r' && m_ends == Ends::Any;
    if (byte == '\n' || isReturn) {
      m_afterReturn = isReturn;
      if (m_ends == Ends::LineFeed && m_line.ends_with('\r')) {
        m_line.pop_back();
      }
      lines.push_back(std::exchange(m_line, {}));
      continue;
    }
    if (m_line.size() == m_cap) {
      return Error(ErrorKind::Protocol, fmt::format("a line of the reply has more than {} bytes", m_cap));
    }
    m_line += byte;
  }
  return lines;
}

std::string LineSplitter::takeRest() {
  return std::exchange(m_line, {});
}

Result<std::vector<ServerEvent>> SseParser::feed(std::string_view bytes) {
  std::vector<ServerEvent> events;
  SWAGE_TRY_ASSIGN(const std::vector<std::string> lines, m_lines.feed(bytes));
  for (const std::string& line : lines) {
    SWAGE_TRY(takeLine(line, events));
  }
  return events;
}

std::vector<ServerEvent> SseParser::finish() {
  std::vector<ServerEvent> events;
  dispatch(events);
  return events;
}

Result<> SseParser::takeLine(std::string_view line, std::vector<ServerEvent>& into) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (std::exchange(m_isFirstLine, false) && line.starts_with(kByteOrderMark)) {
    line.remove_prefix(kByteOrderMark.size());
  }
  if (line.empty()) {
    dispatch(into);
    return {};
  }
  const std::size_t colon = std::min(line.find(':'), line.size());
  const std::string_view field = line.substr(0, colon);
  std::string_view value = line.substr(std::min(colon + 1, line.size()));
  if (value.starts_with(' ')) {
    value.remove_prefix(1);
  }
  if (field == "event") {
    m_event.name = value;
  } else if (field == "data") {
    if (m_event.data.size() + value.size() + 1 > m_max) {
      return Error(ErrorKind::Protocol, fmt::format("an event of the reply has more than {} bytes", m_max));
    }
    m_event.data += std::exchange(m_hasData, true) ? "\n" : "";
    m_event.data += value;
  }
  return {};
}

void SseParser::dispatch(std::vector<ServerEvent>& into) {
  if (std::exchange(m_hasData, false)) {
    into.push_back(std::move(m_event));
  }
  m_event = {};
}

}  // namespace swage::models
