// SPDX-License-Identifier: Apache-2.0
// The forms that are read, as printed:
//   source.cpp:14:14: error: 'name' was not declared in this scope [-Woption]      g++, clang++
//      14 |   double z = name;                                                      a snippet follows
//         |              ^~~~
//   source.cu(11): error: identifier "name" is undefined                           NVRTC; #177-D names a warning
//       out[0] = name                                                              the source line behind two spaces
//                ^
//   ptxas application ptx input, line 30; error   : Unknown modifier '.globl'      lines of the PTX
//   ptxas error   : Entry function 'k' uses too much shared data
//   line 5: inline assembly is not allowed                                         the checks of the source
#include "core/domain/diagnostic.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include <fmt/format.h>

namespace swage::domain {
namespace {

using Severity = Diagnostic::Severity;

constexpr std::string_view kSourceNames[] = {"source.cpp", "source.cu"};  // as core/toolchain calls them
constexpr std::size_t kNvrtcIndent = 2;

bool isSource(std::string_view file) {
  return std::find(std::begin(kSourceNames), std::end(kSourceNames), file) != std::end(kSourceNames);
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  return begin == std::string_view::npos ? std::string_view()
                                         : text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

// Takes a number off the front; 0 when there is none.
int takeNumber(std::string_view& text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) {
    return 0;
  }
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

bool take(std::string_view& text, std::string_view prefix) {
  const bool begins = text.starts_with(prefix);
  text.remove_prefix(begins ? prefix.size() : 0);
  return begins;
}

// "error: ", "fatal error: ", "warning #177-D: ", "note: " off the front of a message.
std::optional<Severity> takeSeverity(std::string_view& text, std::string& option) {
  static constexpr std::pair<std::string_view, Severity> kWords[] = {{"fatal error", Severity::Error},
                                                                     {"catastrophic error", Severity::Error},
                                                                     {"internal error", Severity::Error},
                                                                     {"error", Severity::Error},
                                                                     {"warning", Severity::Warning},
                                                                     {"note", Severity::Note},
                                                                     {"remark", Severity::Note},
                                                                     {"sorry, unimplemented", Severity::Error},
                                                                     {"internal compiler error", Severity::Error}};
  for (const auto& [word, severity] : kWords) {
    std::string_view rest = text;
    if (!take(rest, word)) {
      continue;
    }
    if (take(rest, " #")) {
      const std::size_t end = rest.find(':');
      option = rest.substr(0, end);
      rest.remove_prefix(std::min(rest.size(), end));
    }
    if (take(rest, ":")) {
      text = trimmed(rest);
      return severity;
    }
    option.clear();
  }
  return std::nullopt;
}

// "… [-Wunused-variable]"
void takeOption(Diagnostic& diagnostic) {
  const std::size_t open = diagnostic.message.rfind(" [-");
  if (open != std::string::npos && diagnostic.message.ends_with(']')) {
    diagnostic.option = diagnostic.message.substr(open + 2, diagnostic.message.size() - open - 3);
    diagnostic.message.resize(open);
  }
}

void place(Diagnostic& diagnostic, std::string_view file, int line, int column) {
  if (isSource(file)) {
    diagnostic.line = line;
    diagnostic.column = column;
  } else {
    diagnostic.place = fmt::format("{}:{}", file, line);
  }
}

// "FILE:LINE:COLUMN: SEVERITY: MESSAGE"; an instantiation has no severity: "FILE:LINE:COLUMN:   required from here".
std::optional<Diagnostic> parseGnu(std::string_view text) {
  for (std::size_t colon = text.find(':'); colon != std::string_view::npos; colon = text.find(':', colon + 1)) {
    std::string_view rest = text.substr(colon + 1);
    const int line = takeNumber(rest);
    if (line <= 0 || !take(rest, ":")) {
      continue;
    }
    const int column = takeNumber(rest);
    if (column > 0 && !take(rest, ":")) {
      return std::nullopt;
    }
    rest = trimmed(rest);
    Diagnostic diagnostic;
    const auto severity = takeSeverity(rest, diagnostic.option);
    if (!severity && !rest.starts_with("required from")) {
      return std::nullopt;
    }
    diagnostic.severity = severity.value_or(Severity::Note);
    diagnostic.message = rest;
    place(diagnostic, text.substr(0, colon), line, column);
    takeOption(diagnostic);
    return diagnostic;
  }
  return std::nullopt;
}

// "FILE(LINE): SEVERITY: MESSAGE"
std::optional<Diagnostic> parseNvrtc(std::string_view text) {
  const std::size_t open = text.find('(');
  if (open == std::string_view::npos || open == 0) {
    return std::nullopt;
  }
  std::string_view rest = text.substr(open + 1);
  const int line = takeNumber(rest);
  if (line <= 0 || !take(rest, "): ")) {
    return std::nullopt;
  }
  Diagnostic diagnostic;
  const auto severity = takeSeverity(rest, diagnostic.option);
  if (!severity) {
    return std::nullopt;
  }
  diagnostic.severity = *severity;
  diagnostic.message = rest;
  place(diagnostic, text.substr(0, open), line, 0);
  return diagnostic;
}

// "ptxas application ptx input, line 30; error   : MESSAGE" and "ptxas fatal   : MESSAGE"
std::optional<Diagnostic> parsePtxas(std::string_view text) {
  if (!take(text, "ptxas ")) {
    return std::nullopt;
  }
  Diagnostic diagnostic;
  if (const std::size_t line = text.find("line "); text.starts_with("application") && line != std::string_view::npos) {
    std::string_view rest = text.substr(line + 5);
    diagnostic.place = fmt::format("line {} of the PTX", takeNumber(rest));
    take(rest, "; ");
    text = rest;
  }
  text = trimmed(text);
  const std::size_t colon = text.find(':');
  const std::string_view word = trimmed(text.substr(0, colon));
  if (colon == std::string_view::npos || (word != "error" && word != "fatal" && word != "warning")) {
    return std::nullopt;
  }
  diagnostic.severity = word == "warning" ? Severity::Warning : Severity::Error;
  diagnostic.message = trimmed(text.substr(colon + 1));
  return diagnostic;
}

// "line 5: MESSAGE"
std::optional<Diagnostic> parseCheck(std::string_view text) {
  if (!take(text, "line ")) {
    return std::nullopt;
  }
  Diagnostic diagnostic;
  diagnostic.line = takeNumber(text);
  if (diagnostic.line <= 0 || !take(text, ": ")) {
    return std::nullopt;
  }
  diagnostic.message = text;
  return diagnostic;
}

// "cc1plus: fatal error: …", "collect2: error: ld returned 1 exit status", "/usr/bin/ld: …: undefined reference"
std::optional<Diagnostic> parseTool(std::string_view text) {
  const std::size_t colon = text.find(": ");
  if (colon == std::string_view::npos || text.find(' ') < colon) {
    return std::nullopt;
  }
  std::string_view rest = text.substr(colon + 2);
  Diagnostic diagnostic;
  const auto severity = takeSeverity(rest, diagnostic.option);
  if (!severity && !text.substr(0, colon).ends_with("ld")) {
    return std::nullopt;
  }
  diagnostic.severity = severity.value_or(Severity::Error);
  diagnostic.place = text.substr(0, colon);
  diagnostic.message = rest;
  return diagnostic;
}

std::optional<Diagnostic> parseLine(std::string_view line) {
  for (const auto parse : {parseGnu, parseNvrtc, parsePtxas, parseCheck, parseTool}) {
    if (auto diagnostic = parse(line)) {
      return diagnostic;
    }
  }
  return std::nullopt;
}

// The line below a snippet marks what is meant with ^ and ~.
void takeMarks(Diagnostic& diagnostic, std::string_view line) {
  const std::size_t bar = line.find("| ");
  const bool isGnu = bar != std::string_view::npos && line.find_first_not_of(' ') == bar;
  const std::string_view marks = isGnu ? line.substr(bar + 2) : line;
  const std::size_t begin = marks.find_first_not_of(' ');
  if (begin == std::string_view::npos || diagnostic.line == 0 || diagnostic.length != 0) {
    return;
  }
  const std::size_t end = marks.find_first_not_of("^~", begin);
  if (end == begin || marks.substr(begin, end - begin).find('^') == std::string_view::npos ||
      (!isGnu && (end != std::string_view::npos || begin < kNvrtcIndent))) {
    return;
  }
  diagnostic.column = static_cast<int>(begin - (isGnu ? 0 : kNvrtcIndent)) + 1;
  diagnostic.length = static_cast<int>(std::min(end, marks.size()) - begin);
}

}  // namespace

std::string_view name(Diagnostic::Severity severity) {
  switch (severity) {
    case Severity::Error: return "error";
    case Severity::Warning: return "warning";
    case Severity::Note: return "note";
  }
  return "error";
}

std::vector<Diagnostic> parseDiagnostics(std::string_view log) {
  std::vector<Diagnostic> found;
  std::string_view rest = log;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    if (auto diagnostic = parseLine(line)) {
      found.push_back(std::move(*diagnostic));
    } else if (!found.empty()) {
      takeMarks(found.back(), line);
    }
  }
  if (const std::size_t begin = log.find_first_not_of(" \t\r\n"); found.empty() && begin != std::string_view::npos) {
    const std::string_view text = log.substr(begin);
    Diagnostic whole;
    whole.message = trimmed(text.substr(0, text.find('\n')));
    found.push_back(std::move(whole));
  }
  return found;
}

std::vector<Diagnostic> diagnosticsOf(const std::optional<Evaluation>& evaluation, std::string_view compileLog) {
  if (evaluation) {
    if (const auto* failed = std::get_if<CompileFailed>(&*evaluation)) {
      return parseDiagnostics(failed->log);
    }
    if (const auto* rejected = std::get_if<Rejected>(&*evaluation)) {
      return parseDiagnostics(rejected->detail);
    }
  }
  std::vector<Diagnostic> warnings = parseDiagnostics(compileLog);
  // What a compiler mentions without a form of its own is no error: it compiled.
  std::erase_if(warnings, [](const Diagnostic& one) { return one.severity == Severity::Error; });
  return warnings;
}

}  // namespace swage::domain
