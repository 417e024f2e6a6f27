// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace swage::models {

// Bytes to lines, wherever the pieces of a stream are cut, also inside of CR LF or of a UTF-8 sequence. A line that is
// longer than the cap is an error of kind Protocol, and nothing can be read after it.
class LineSplitter {
 public:
  enum class Ends : std::uint8_t { LineFeed, Any };  // Any: LF, CR LF or CR; LineFeed: LF or CR LF

  LineSplitter(Ends ends, std::size_t cap) : m_ends(ends), m_cap(cap) {}

  // The lines that these bytes complete, without their ends.
  [[nodiscard]] Result<std::vector<std::string>> feed(std::string_view bytes);
  // What has no end yet. Empties it.
  [[nodiscard]] std::string takeRest();

 private:
  Ends m_ends;
  std::size_t m_cap;
  std::string m_line;
  bool m_afterReturn = false;  // a LF that follows belongs to the CR before it
};

struct ServerEvent {
  std::string name;  // empty: none was said
  std::string data;
  friend bool operator==(const ServerEvent&, const ServerEvent&) = default;
};

// Server-sent events (WHATWG HTML, "Interpreting an event stream"): a byte order mark at the start, comments, data of
// several lines, any end of line. Names that are not needed here (id, retry) are skipped.
class SseParser {
 public:
  static constexpr std::size_t kMaxEvent = std::size_t{1} << 20U;

  explicit SseParser(std::size_t maxEvent = kMaxEvent) : m_lines(LineSplitter::Ends::Any, maxEvent), m_max(maxEvent) {}

  // The events that these bytes complete. Kind Protocol: an event is too large.
  [[nodiscard]] Result<std::vector<ServerEvent>> feed(std::string_view bytes);
  // At the end of the stream: the event whose blank line did not come, if its lines are whole.
  [[nodiscard]] std::vector<ServerEvent> finish();

 private:
  [[nodiscard]] Result<> takeLine(std::string_view line, std::vector<ServerEvent>& into);
  void dispatch(std::vector<ServerEvent>& into);

  LineSplitter m_lines;
  std::size_t m_max;
  ServerEvent m_event;
  bool m_hasData = false;
  bool m_isFirstLine = true;
};

}  // namespace swage::models
