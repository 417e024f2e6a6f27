// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace swage::exporting {

enum class TokenKind : std::uint8_t { Name, String, Comment, Operator, Other };

struct Token {
  TokenKind kind = TokenKind::Other;
  std::size_t begin = 0;
  std::size_t end = 0;
  int depth = 0;  // of brackets around it

  [[nodiscard]] std::string_view in(std::string_view source) const { return source.substr(begin, end - begin); }
};

// One line of a program as Python sees it: a line in brackets or after a backslash goes on.
struct LogicalLine {
  std::size_t begin = 0;  // first character, indentation included
  std::size_t end = 0;    // behind the line feed
  std::size_t indent = 0;
  std::vector<Token> tokens;  // comments included
  [[nodiscard]] bool isBlank() const { return tokens.empty() || tokens.front().kind == TokenKind::Comment; }
};

// Splits Python source far enough to find statements, names and strings; it is no parser. InvalidInput names the line
// of a string or bracket that is never closed.
[[nodiscard]] Result<std::vector<LogicalLine>> splitPython(std::string_view source);

}  // namespace swage::exporting
