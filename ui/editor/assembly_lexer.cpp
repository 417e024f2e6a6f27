// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/editor/assembly_lexer.h"

#include <Qsci/qsciscintilla.h>

#include <QByteArray>
#include <QCoreApplication>

#include <algorithm>
#include <array>
#include <utility>

namespace swage::ui {
namespace {

using Style = AssemblyStyle;

bool isDigit(char c) {
  return c >= '0' && c <= '9';
}

bool isLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool isSpace(char c) {
  return c == ' ' || c == '\t';
}

bool isHex(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool isNumbered(std::string_view word, std::string_view prefix) {
  return word.starts_with(prefix) && word.size() > prefix.size() &&
         std::all_of(word.begin() + static_cast<std::ptrdiff_t>(prefix.size()), word.end(), isDigit);
}

bool isX86Register(std::string_view word) {
  static constexpr std::array<std::string_view, 44> kNames = {
      "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp", "rip", "eax", "ebx", "ecx", "edx", "esi", "edi",
      "ebp", "esp", "eip", "ax",  "bx",  "cx",  "dx",  "si",  "di",  "bp",  "sp",  "al",  "bl",  "cl",  "dl",
      "ah",  "bh",  "ch",  "dh",  "sil", "dil", "bpl", "spl", "cs",  "ds",  "es",  "fs",  "gs",  "ss"};
  if (std::find(kNames.begin(), kNames.end(), word) != kNames.end()) {
    return true;
  }
  if (isNumbered(word, "xmm") || isNumbered(word, "ymm") || isNumbered(word, "zmm") || isNumbered(word, "k") ||
      isNumbered(word, "r")) {
    return true;
  }
  const std::string_view stem = word.substr(0, word.empty() ? 0 : word.size() - 1);  // r8d, r10w, r11b
  return isNumbered(stem, "r") && (word.back() == 'd' || word.back() == 'w' || word.back() == 'b');
}

bool isSassRegister(std::string_view word) {
  const std::string_view name = word.substr(0, word.find('.'));
  return isNumbered(name, "R") || isNumbered(name, "UR") || isNumbered(name, "P") || isNumbered(name, "UP") ||
         isNumbered(name, "B") || name == "RZ" || name == "URZ" || name == "PT" || name == "UPT" ||
         name.starts_with("SR_");
}

bool isRegister(AssemblyDialect dialect, std::string_view word) {
  switch (dialect) {
    case AssemblyDialect::Ptx: return word.starts_with('%');
    case AssemblyDialect::Sass: return isSassRegister(word);
    case AssemblyDialect::X86: return isX86Register(word);
  }
  return false;
}

// One pass over one line.
class LineStyler {
 public:
  LineStyler(AssemblyDialect dialect, std::string_view line) : m_dialect(dialect), m_line(line) {}

  std::vector<AssemblySpan> run() {
    if (m_dialect == AssemblyDialect::X86 && !m_line.empty() && !isSpace(m_line.front())) {
      // "0000000000001120 <k>:" and "k():" begin a function; "source.cpp:12" says where code came from.
      add(m_line.size(), m_line.ends_with(">:") || m_line.ends_with("():") ? Style::Label : Style::Comment);
      return std::move(m_spans);
    }
    while (m_at < m_line.size()) {
      step();
    }
    return std::move(m_spans);
  }

 private:
  [[nodiscard]] std::string_view rest() const { return m_line.substr(m_at); }

  void add(std::size_t length, Style style) {
    if (!m_spans.empty() && m_spans.back().style == style) {
      m_spans.back().length += length;
    } else if (length > 0) {
      m_spans.push_back({length, style});
    }
    m_at += length;
  }

  void step() {
    const char c = m_line[m_at];
    const bool slashes = m_dialect != AssemblyDialect::X86;
    if (slashes && rest().starts_with("/*")) {
      const std::size_t end = m_line.find("*/", m_at + 2);
      add(end == std::string_view::npos ? rest().size() : end + 2 - m_at, Style::Comment);
    } else if ((slashes && rest().starts_with("//")) || (!slashes && c == '#')) {
      add(rest().size(), Style::Comment);
    } else if (c == '"') {
      const std::size_t end = m_line.find('"', m_at + 1);
      add(end == std::string_view::npos ? rest().size() : end + 1 - m_at, Style::String);
    } else if (isLetter(c) || isDigit(c) || c == '%' || c == '$' || c == '.' || c == '@') {
      addWord();
    } else {
      m_expectsOpcode = m_expectsOpcode || c == ';' || c == '{' || c == '}';
      add(1, Style::Plain);
    }
  }

  void addWord() {
    std::size_t length = 1;
    const auto continues = [this](char c) {
      return isLetter(c) || isDigit(c) || c == '.' || c == '$' ||
             ((c == '%' || c == '!') && m_line[m_at] == '@');  // "@!%p1"
    };
    while (m_at + length < m_line.size() && continues(m_line[m_at + length])) {
      ++length;
    }
    const std::string_view word = m_line.substr(m_at, length);
    const bool isLabel = m_expectsOpcode && m_at + length < m_line.size() && m_line[m_at + length] == ':';
    if (isLabel) {
      const bool isAddress = m_dialect == AssemblyDialect::X86 && isHex(word);
      add(length + 1, isAddress ? Style::Comment : Style::Label);
      return;
    }
    add(length, styleOf(word));
  }

  Style styleOf(std::string_view word) {
    if (word.front() == '.') {
      m_expectsOpcode = false;
      return Style::Directive;
    }
    if (word.front() == '@' || isRegister(m_dialect, word)) {
      return Style::Register;
    }
    if (isDigit(word.front())) {
      return Style::Number;
    }
    if (std::exchange(m_expectsOpcode, false)) {
      return Style::Opcode;
    }
    return word.front() == '$' ? Style::Label : Style::Plain;
  }

  AssemblyDialect m_dialect;
  std::string_view m_line;
  std::size_t m_at = 0;
  bool m_expectsOpcode = true;
  std::vector<AssemblySpan> m_spans;
};

}  // namespace

std::vector<AssemblySpan> styleAssembly(AssemblyDialect dialect, std::string_view line) {
  return LineStyler(dialect, line).run();
}

AssemblyLexer::AssemblyLexer(AssemblyDialect dialect, QObject* parent) : QsciLexerCustom(parent), m_dialect(dialect) {}

QString AssemblyLexer::description(int style) const {
  static constexpr std::array<const char*, static_cast<std::size_t>(Style::Count)> kNames = {
      QT_TRANSLATE_NOOP("assembly", "Plain"),     QT_TRANSLATE_NOOP("assembly", "Comment"),
      QT_TRANSLATE_NOOP("assembly", "Directive"), QT_TRANSLATE_NOOP("assembly", "Label"),
      QT_TRANSLATE_NOOP("assembly", "Opcode"),    QT_TRANSLATE_NOOP("assembly", "Register"),
      QT_TRANSLATE_NOOP("assembly", "Number"),    QT_TRANSLATE_NOOP("assembly", "String")};
  if (style < 0 || style >= static_cast<int>(Style::Count)) {
    return {};  // what QScintilla takes for the end of the list
  }
  return QCoreApplication::translate("assembly", kNames[static_cast<std::size_t>(style)]);
}

void AssemblyLexer::styleText(int start, int end) {
  if (editor() == nullptr) {
    return;
  }
  const long line = editor()->SendScintilla(QsciScintilla::SCI_LINEFROMPOSITION, start);
  start = static_cast<int>(editor()->SendScintilla(QsciScintilla::SCI_POSITIONFROMLINE, line));
  const QByteArray bytes = editor()->bytes(start, end);
  std::string_view text(bytes.constData(), static_cast<std::size_t>(std::max(end - start, 0)));
  startStyling(start);
  while (!text.empty()) {
    const std::size_t length = std::min(text.find('\n'), text.size());
    for (const AssemblySpan& span : styleAssembly(m_dialect, text.substr(0, length))) {
      setStyling(static_cast<int>(span.length), static_cast<int>(span.style));
    }
    const std::size_t newline = length < text.size() ? 1 : 0;
    setStyling(static_cast<int>(newline), static_cast<int>(Style::Plain));
    text.remove_prefix(length + newline);
  }
}

void AssemblyLexer::setTheme(const Theme& theme, const QFont& font) {
  setDefaultFont(font);
  setDefaultPaper(theme.base);
  setDefaultColor(theme.text);
  setFont(font, -1);
  setPaper(theme.base, -1);
  const std::pair<Style, QColor> styles[] = {
      {Style::Plain, theme.text},          {Style::Comment, theme.comment}, {Style::Directive, theme.preprocessor},
      {Style::Label, theme.deviceKeyword}, {Style::Opcode, theme.keyword},  {Style::Register, theme.text},
      {Style::Number, theme.number},       {Style::String, theme.string}};
  for (const auto& [style, color] : styles) {
    setColor(color, static_cast<int>(style));
  }
}

}  // namespace swage::ui
