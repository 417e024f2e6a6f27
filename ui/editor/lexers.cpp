// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/editor/lexers.h"

#include <Qsci/qscilexerjson.h>
#include <Qsci/qscilexermarkdown.h>
#include <Qsci/qscilexerpython.h>

#include <span>
#include <utility>
#include <vector>

#include "ui/editor/assembly_lexer.h"
#include "ui/editor/cuda_lexer.h"

namespace swage::ui {
namespace {

void setPlain(QsciLexer& lexer, const Theme& theme, const QFont& font) {
  lexer.setDefaultFont(font);
  lexer.setDefaultPaper(theme.base);
  lexer.setDefaultColor(theme.text);
  lexer.setFont(font, -1);
  lexer.setPaper(theme.base, -1);
  lexer.setColor(theme.text, -1);
}

void setColors(QsciLexer& lexer, std::span<const std::pair<QColor, std::vector<int>>> styles) {
  for (const auto& [color, ids] : styles) {
    for (const int id : ids) {
      lexer.setColor(color, id);
    }
  }
}

// Python with the words of Triton as a second set.
class PythonLexer final : public QsciLexerPython {
 public:
  explicit PythonLexer(QObject* parent) : QsciLexerPython(parent) {
    setFoldComments(true);
    setHighlightSubidentifiers(true);
  }

  [[nodiscard]] const char* keywords(int set) const override {
    constexpr int kHighlighted = 2;
    return set == kHighlighted
               ? "triton tl jit autotune heuristics constexpr program_id num_programs load store arange zeros full dot "
                 "sum max min exp log sqrt where cdiv make_block_ptr advance atomic_add multiple_of max_contiguous "
                 "torch nn self"
               : QsciLexerPython::keywords(set);
  }

  void setTheme(const Theme& theme, const QFont& font) {
    setPlain(*this, theme, font);
    const std::pair<QColor, std::vector<int>> styles[] = {
        {theme.keyword, {Keyword, ClassName, FunctionMethodName}},
        {theme.deviceKeyword, {HighlightedIdentifier}},
        {theme.comment, {Comment, CommentBlock}},
        {theme.string,
         {DoubleQuotedString, SingleQuotedString, TripleSingleQuotedString, TripleDoubleQuotedString, UnclosedString,
          DoubleQuotedFString, SingleQuotedFString, TripleSingleQuotedFString, TripleDoubleQuotedFString}},
        {theme.number, {Number}},
        {theme.preprocessor, {Decorator}},
    };
    setColors(*this, styles);
  }
};

class JsonLexer final : public QsciLexerJSON {
 public:
  using QsciLexerJSON::QsciLexerJSON;

  void setTheme(const Theme& theme, const QFont& font) {
    setPlain(*this, theme, font);
    const std::pair<QColor, std::vector<int>> styles[] = {
        {theme.keyword, {Property, Keyword}}, {theme.string, {String, EscapeSequence}}, {theme.number, {Number}}};
    setColors(*this, styles);
  }
};

class MarkdownLexer final : public QsciLexerMarkdown {
 public:
  using QsciLexerMarkdown::QsciLexerMarkdown;

  void setTheme(const Theme& theme, const QFont& font) {
    setPlain(*this, theme, font);
    const std::pair<QColor, std::vector<int>> styles[] = {
        {theme.keyword, {Header1, Header2, Header3}},
        {theme.string, {CodeBackticks, CodeDoubleBackticks, CodeBlock}},
        {theme.deviceKeyword, {StrongEmphasisAsterisks, EmphasisAsterisks, Link}}};
    setColors(*this, styles);
  }
};

template <class Lexer>
ThemedLexer themed(Lexer* lexer) {
  return {lexer, [lexer](const Theme& theme, const QFont& font) { lexer->setTheme(theme, font); }};
}

}  // namespace

CodeLanguage codeLanguage(std::string_view name) {
  constexpr std::pair<std::string_view, CodeLanguage> kNames[] = {
      {"cuda", CodeLanguage::Cuda}, {"cpp", CodeLanguage::Cpp},   {"python", CodeLanguage::Python},
      {"ptx", CodeLanguage::Ptx},   {"sass", CodeLanguage::Sass}, {"x86", CodeLanguage::X86}};
  for (const auto& [known, language] : kNames) {
    if (known == name) {
      return language;
    }
  }
  return CodeLanguage::Plain;
}

ThemedLexer makeLexer(CodeLanguage language, QObject* parent) {
  switch (language) {
    case CodeLanguage::Cuda: return themed(new CudaLexer(CudaLexer::Words::Cuda, parent));
    case CodeLanguage::Cpp: return themed(new CudaLexer(CudaLexer::Words::Host, parent));
    case CodeLanguage::Python: return themed(new PythonLexer(parent));
    case CodeLanguage::Ptx: return themed(new AssemblyLexer(AssemblyDialect::Ptx, parent));
    case CodeLanguage::Sass: return themed(new AssemblyLexer(AssemblyDialect::Sass, parent));
    case CodeLanguage::X86: return themed(new AssemblyLexer(AssemblyDialect::X86, parent));
    case CodeLanguage::Json: return themed(new JsonLexer(parent));
    case CodeLanguage::Markdown: return themed(new MarkdownLexer(parent));
    case CodeLanguage::Plain: break;
  }
  return {};
}

}  // namespace swage::ui
