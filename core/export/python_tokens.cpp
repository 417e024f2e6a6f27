// SPDX-License-Identifier: Apache-2.0
#include "core/export/python_tokens.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

namespace swage::exporting {

namespace {

bool startsName(char character) {
  const auto byte = static_cast<unsigned char>(character);
  return std::isalpha(byte) != 0 || character == '_' || byte >= 0x80;
}

bool continuesName(char character) {
  return startsName(character) || std::isdigit(static_cast<unsigned char>(character)) != 0;
}

class Splitter {
 public:
  explicit Splitter(std::string_view source) : m_source(source) {}

  Result<std::vector<LogicalLine>> run() {
    startLine();
    while (m_at < m_source.size()) {
      SWAGE_TRY(step());
    }
    if (m_depth > 0) {
      return failure("a bracket is never closed");
    }
    if (m_line.begin < m_source.size()) {
      endLine();
    }
    return std::move(m_lines);
  }

 private:
  [[nodiscard]] Error failure(std::string_view what) const {
    const auto upTo = m_source.substr(0, std::min(m_at, m_source.size()));
    return Error(ErrorKind::InvalidInput,
                 fmt::format("cannot split the task's Python source: {} at line {}", what,
                             1 + std::count(upTo.begin(), upTo.end(), '\n')),
                 "Import the task again from a file that Python accepts.");
  }

  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return m_at + ahead < m_source.size() ? m_source[m_at + ahead] : '\0';
  }

  void startLine() {
    m_line = LogicalLine{};
    m_line.begin = m_at;
    while (peek() == ' ' || peek() == '\t') {
      ++m_at;
    }
    m_line.indent = m_at - m_line.begin;
  }

  void endLine() {
    m_line.end = m_at;
    m_lines.push_back(std::move(m_line));
    startLine();
  }

  void add(TokenKind kind, std::size_t begin) { m_line.tokens.push_back({kind, begin, m_at, m_depth}); }

  Result<> step() {
    const std::size_t begin = m_at;
    const char character = peek();
    if (character == '\n') {
      ++m_at;
      if (m_depth == 0) {
        endLine();
      }
      return {};
    }
    if (character == '\\' && (peek(1) == '\n' || peek(1) == '\r')) {
      m_at += peek(1) == '\r' ? 3 : 2;
      return {};
    }
    if (std::isspace(static_cast<unsigned char>(character)) != 0) {
      ++m_at;
      return {};
    }
    if (character == '#') {
      m_at = std::min(m_source.find('\n', m_at), m_source.size());
      add(TokenKind::Comment, begin);
      return {};
    }
    return token();
  }

  Result<> token() {
    const std::size_t begin = m_at;
    const std::size_t quote = quoteAfterPrefix();
    if (quote != std::string_view::npos) {
      SWAGE_TRY(string(quote));
      add(TokenKind::String, begin);
    } else if (startsName(peek())) {
      while (continuesName(peek())) {
        ++m_at;
      }
      add(TokenKind::Name, begin);
    } else if (std::isdigit(static_cast<unsigned char>(peek())) != 0) {
      while (continuesName(peek()) || peek() == '.') {
        ++m_at;
      }
      add(TokenKind::Other, begin);
    } else {
      return operatorToken();
    }
    return {};
  }

  Result<> operatorToken() {
    const std::size_t begin = m_at;
    const char character = peek();
    const bool closes = std::string_view(")]}").find(character) != std::string_view::npos;
    if (closes && --m_depth < 0) {
      return failure("a bracket closes nothing");
    }
    // Two-character comparisons must not look like assignments.
    const bool isLong = peek(1) == '=' && std::string_view("=!<>:").find(character) != std::string_view::npos;
    m_at += isLong ? 2 : 1;
    add(TokenKind::Operator, begin);
    m_depth += std::string_view("([{").find(character) != std::string_view::npos ? 1 : 0;
    return {};
  }

  // Where the quote of a string that begins here is, or npos.
  [[nodiscard]] std::size_t quoteAfterPrefix() const {
    std::size_t at = m_at;
    while (at < m_source.size() && at - m_at < 3 &&
           std::string_view("rRbBfFuU").find(m_source[at]) != std::string_view::npos) {
      ++at;
    }
    return at < m_source.size() && (m_source[at] == '"' || m_source[at] == '\'') ? at : std::string_view::npos;
  }

  Result<> string(std::size_t quote) {
    const char mark = m_source[quote];
    const bool triple = m_source.substr(quote, 3) == std::string(3, mark);
    m_at = quote + (triple ? 3 : 1);
    while (m_at < m_source.size()) {
      if (peek() == '\\') {
        m_at += 2;
      } else if (triple ? m_source.substr(m_at, 3) == std::string(3, mark) : peek() == mark) {
        m_at += triple ? 3 : 1;
        return {};
      } else if (!triple && peek() == '\n') {
        break;
      } else {
        ++m_at;
      }
    }
    m_at = quote;
    return failure("a string is never closed");
  }

  std::string_view m_source;
  std::size_t m_at = 0;
  int m_depth = 0;
  LogicalLine m_line;
  std::vector<LogicalLine> m_lines;
};

}  // namespace

Result<std::vector<LogicalLine>> splitPython(std::string_view source) {
  return Splitter(source).run();
}

}  // namespace swage::exporting
