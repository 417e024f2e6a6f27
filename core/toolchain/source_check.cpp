// SPDX-License-Identifier: Apache-2.0
#include "core/toolchain/source_check.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace swage::toolchain {
namespace {

constexpr std::array<std::string_view, 25> kCppHeaders{
    "algorithm", "array",   "bit",         "cfloat",  "climits",    "cmath",       "concepts",
    "cstddef",   "cstdint", "cstring",     "float.h", "functional", "immintrin.h", "initializer_list",
    "limits",    "math.h",  "numbers",     "numeric", "omp.h",      "stddef.h",    "stdint.h",
    "string.h",  "tuple",   "type_traits", "utility"};

constexpr std::array<std::string_view, 20> kCudaHeaders{"cooperative_groups.h",
                                                        "cstddef",
                                                        "cstdint",
                                                        "cuda_awbarrier.h",
                                                        "cuda_awbarrier_primitives.h",
                                                        "cuda_bf16.h",
                                                        "cuda_fp16.h",
                                                        "cuda_fp8.h",
                                                        "cuda_pipeline.h",
                                                        "cuda_pipeline_primitives.h",
                                                        "cuda_runtime.h",
                                                        "float.h",
                                                        "limits",
                                                        "math_constants.h",
                                                        "mma.h",
                                                        "stddef.h",
                                                        "stdint.h",
                                                        "type_traits",
                                                        "utility",
                                                        "vector_types.h"};

constexpr std::array<std::string_view, 2> kCudaFolders{"cooperative_groups/", "cuda/"};

constexpr std::array<std::string_view, 53> kCppWords{"asm",
                                                     "__asm",
                                                     "__asm__",
                                                     "section",
                                                     "__section__",
                                                     "constructor",
                                                     "__constructor__",
                                                     "destructor",
                                                     "__destructor__",
                                                     "ifunc",
                                                     "__ifunc__",
                                                     "alias",
                                                     "__alias__",
                                                     "weakref",
                                                     "__weakref__",
                                                     "optimize",
                                                     "__optimize__",
                                                     "naked",
                                                     "__naked__",
                                                     "target_clones",
                                                     "__target_clones__",
                                                     "__builtin_apply",
                                                     "noinit",
                                                     "__noinit__",
                                                     "persistent",
                                                     "__persistent__",
                                                     "__builtin_frame_address",
                                                     "__builtin_return_address",
                                                     "__builtin_thread_pointer",
                                                     "__builtin_eh_return",
                                                     "__builtin_unwind_init",
                                                     "__dso_handle",
                                                     "__TMC_END__",
                                                     "__bss_start",
                                                     "_edata",
                                                     "_end",
                                                     "__data_start",
                                                     "__has_include",
                                                     "__has_include_next",
                                                     "__has_embed",
                                                     "__FILE__",
                                                     "__FILE_NAME__",
                                                     "__BASE_FILE__",
                                                     "__INCLUDE_LEVEL__",
                                                     "__LINE__",
                                                     "__DATE__",
                                                     "__TIME__",
                                                     "__TIMESTAMP__",
                                                     "__builtin_FILE",
                                                     "__builtin_LINE",
                                                     "__builtin_source_location",
                                                     "_ITM_registerTMCloneTable",
                                                     "_ITM_deregisterTMCloneTable"};

bool isListed(std::span<const std::string_view> list, std::string_view item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

bool isHeaderAllowed(const SourceRules& rules, std::string_view header) {
  if (header.find("..") != std::string_view::npos) {
    return false;
  }
  return isListed(rules.headers, header) ||
         std::any_of(rules.folders.begin(), rules.folders.end(),
                     [header](std::string_view folder) { return header.starts_with(folder); });
}

bool isWordStart(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
}
bool isWordPart(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
}
bool isBlank(char c) {
  return c != '\n' && std::isspace(static_cast<unsigned char>(c)) != 0;
}

// Lines joined where they end in a backslash, as the compiler does before it looks at tokens. Newlines that were
// joined away are counted in `lineOf`, so that messages name the line of the file.
struct Spliced {
  std::string text;
  std::vector<int> lineOf;
};

Spliced splice(std::string_view source) {
  Spliced spliced;
  int line = 1;
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\\') {
      // The compiler also accepts blanks between the backslash and the end of the line.
      std::size_t next = i + 1;
      while (next < source.size() && isBlank(source[next])) {
        ++next;
      }
      if (next < source.size() && source[next] == '\n') {
        i = next;
        ++line;
        continue;
      }
    }
    spliced.text += source[i];
    spliced.lineOf.push_back(line);
    line += source[i] == '\n' ? 1 : 0;
  }
  return spliced;
}

// Walks over the tokens of one source. Knows comments, literals and directives; everything else is words and
// punctuation.
class Checker {
 public:
  Checker(const SourceRules& rules, Spliced source) : m_rules(rules), m_source(std::move(source)) {}

  std::optional<std::string> run() {
    while (m_at < text().size() && !m_refusal) {
      step();
    }
    return m_refusal;
  }

 private:
  [[nodiscard]] const std::string& text() const { return m_source.text; }
  [[nodiscard]] bool at(std::string_view token) const { return text().compare(m_at, token.size(), token) == 0; }

  void refuse(const std::string& what) {
    const std::size_t position = std::min(m_at, m_source.lineOf.size() - 1);
    m_refusal = fmt::format("line {}: {}", m_source.lineOf[position], what);
  }

  void step() {
    const char c = text()[m_at];
    if (c == '\n') {
      m_lineStart = true;
      m_wordIsLast = false;
      ++m_at;
    } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      ++m_at;
    } else if (at("//") || at("/*")) {
      skipComment();
    } else if (m_lineStart && (c == '#' || at("%:"))) {
      m_lineStart = false;
      directive();
    } else {
      m_lineStart = false;
      token(c);
    }
  }

  void token(char c) {
    if (isWordStart(c)) {
      word();
    } else if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      skipNumber();
    } else if (c == '"' || c == '\'') {
      const std::string_view literal = skipLiteral(c);
      if (m_previous == "_Pragma") {
        checkPragma(literal);
      }
    } else {
      if (!m_rules.words.empty() && (at("##") || at("%:%:"))) {
        paste();
      } else {
        ++m_at;
      }
      m_wordIsLast = false;
    }
  }

  // Pasting may make new words, but none of the refused ones: one side must be a fixed piece of text that no refused
  // word contains. `fn_##name` can never become `asm`, whatever the name is.
  void paste() {
    const std::size_t sign = m_at;
    const std::string left = m_wordIsLast ? m_previous : std::string();
    m_at += at("##") ? 2U : 4U;
    skipBlanks();
    const std::size_t next = m_at;
    const std::string_view right = readWord();
    m_at = next;
    if (!isHarmlessPiece(left) && !isHarmlessPiece(right)) {
      m_at = sign;
      refuse("this token pasting (##) is not allowed: it could spell a word that is refused");
    }
  }

  [[nodiscard]] bool isHarmlessPiece(std::string_view piece) const {
    const bool isParameter = std::find(m_parameters.begin(), m_parameters.end(), piece) != m_parameters.end();
    return !piece.empty() && !isParameter &&
           std::none_of(m_rules.words.begin(), m_rules.words.end(),
                        [piece](std::string_view word) { return word.find(piece) != std::string_view::npos; });
  }

  void skipComment() {
    const std::string_view end = at("//") ? "\n" : "*/";
    const std::size_t found = text().find(end, m_at + 2);
    // The newline itself stays: it starts a line.
    m_at = found == std::string::npos ? text().size() : found + (end == "\n" ? 0 : end.size());
  }

  // A quote is part of a number only before a digit or a letter; else it begins a literal.
  void skipNumber() {
    const auto isPart = [this](std::size_t at) { return at < text().size() && isWordPart(text()[at]); };
    while (isPart(m_at) || (m_at < text().size() && (text()[m_at] == '.' || text()[m_at] == '\'') &&
                            (text()[m_at] == '.' || isPart(m_at + 1)))) {
      ++m_at;
    }
  }

  std::string_view skipLiteral(char quote) {
    const std::size_t begin = ++m_at;
    while (m_at < text().size() && text()[m_at] != quote && text()[m_at] != '\n') {
      m_at += text()[m_at] == '\\' ? 2U : 1U;
    }
    m_at = std::min(m_at, text().size());
    const std::string_view literal = std::string_view(text()).substr(begin, m_at - begin);
    m_at += m_at < text().size() && text()[m_at] == quote ? 1U : 0U;
    return literal;
  }

  std::string_view readWord() {
    const std::size_t begin = m_at;
    while (m_at < text().size() && isWordPart(text()[m_at])) {
      ++m_at;
    }
    return std::string_view(text()).substr(begin, m_at - begin);
  }

  void word() {
    const std::string_view name = readWord();
    if (name.ends_with('R') && m_at < text().size() && text()[m_at] == '"') {
      refuse("raw string literals are not allowed: they can hide directives");
      return;
    }
    if (isListed(m_rules.words, name) && !(name == "section" && m_previous == "omp")) {
      refuse(fmt::format("'{}' is not allowed in {}", name, m_rules.language));
      return;
    }
    m_previous = name;
    m_wordIsLast = true;
  }

  void checkPragma(std::string_view content) {
    if (isListed(m_rules.words, "optimize") && content.find("optimize") != std::string_view::npos) {
      refuse(fmt::format("'_Pragma' with 'optimize' is not allowed in {}", m_rules.language));
    }
  }

  void skipBlanks() {
    while (m_at < text().size()) {
      if (isBlank(text()[m_at])) {
        ++m_at;
      } else if (at("/*")) {
        skipComment();
      } else {
        return;
      }
    }
  }

  // The rest of a directive other than an include is looked at as ordinary tokens.
  void directive() {
    m_at += at("%:") ? 2U : 1U;
    skipBlanks();
    const std::string_view name = readWord();
    m_previous = name;
    if (name == "include" || name == "include_next" || name == "import" || name == "embed") {
      include();
    } else if (name == "define") {
      define();
    } else if (name == "line" || (!name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) != 0)) {
      refuse("lines cannot be given other numbers or names");
    }
  }

  // Remembers the parameters of the macro; its body is looked at as ordinary tokens.
  void define() {
    m_parameters.clear();
    skipBlanks();
    const std::size_t begin = m_at;
    (void)readWord();
    if (m_at >= text().size() || text()[m_at] != '(') {
      m_at = begin;
      return;
    }
    for (skipBlanks(); m_at < text().size() && text()[m_at] != ')' && text()[m_at] != '\n'; skipBlanks()) {
      const std::string_view parameter = readWord();
      if (!parameter.empty()) {
        m_parameters.emplace_back(parameter);
      }
      m_at += parameter.empty() ? 1U : 0U;
    }
    m_parameters.emplace_back("__VA_ARGS__");
    m_at = begin;
  }

  void include() {
    skipBlanks();
    const char open = m_at < text().size() ? text()[m_at] : '\n';
    if (open != '<' && open != '"') {
      refuse("an #include must name its header in <> or \"\"");
      return;
    }
    const std::size_t end = text().find_first_of(open == '<' ? ">\n" : "\"\n", m_at + 1);
    const std::string header = text().substr(m_at + 1, end == std::string::npos ? end : end - m_at - 1);
    if (!isHeaderAllowed(m_rules, header)) {
      refuse(fmt::format("#include of '{}' is not allowed in {}", header, m_rules.language));
      return;
    }
    m_at = end == std::string::npos ? text().size() : end + 1;
  }

  const SourceRules& m_rules;
  Spliced m_source;
  std::size_t m_at = 0;
  bool m_lineStart = true;
  std::string m_previous;                 // the word before this token
  bool m_wordIsLast = false;              // nothing but blanks stands between that word and this token
  std::vector<std::string> m_parameters;  // of the macro that is being defined
  std::optional<std::string> m_refusal;
};

}  // namespace

const SourceRules& cppSourceRules() {
  static const SourceRules rules{.language = "C++", .headers = kCppHeaders, .folders = {}, .words = kCppWords};
  return rules;
}

const SourceRules& cudaSourceRules() {
  static const SourceRules rules{.language = "CUDA C++", .headers = kCudaHeaders, .folders = kCudaFolders, .words = {}};
  return rules;
}

std::optional<std::string> findRefusal(const SourceRules& rules, std::string_view source) {
  if (source.find('\0') != std::string_view::npos) {
    return "the source contains a zero byte";
  }
  return Checker(rules, splice(source)).run();
}

// Markers look like: # 12 "source.cpp" 2
std::string ownPart(std::string_view preprocessed, std::string_view source) {
  std::string own;
  std::size_t line = 1;
  bool isOwn = false;
  while (!preprocessed.empty()) {
    const std::size_t end = std::min(preprocessed.find('\n'), preprocessed.size());
    const std::string_view text = preprocessed.substr(0, end);
    preprocessed.remove_prefix(std::min(end + 1, preprocessed.size()));
    std::size_t number = 0;
    const bool isMarker =
        text.starts_with("# ") && std::from_chars(text.data() + 2, text.data() + text.size(), number).ec == std::errc{};
    if (isMarker) {
      const std::size_t name = std::min(text.find('"'), text.size());
      isOwn = text.substr(name).starts_with(fmt::format("\"{}\"", source));
      for (; isOwn && line < number; ++line) {
        own += '\n';
      }
    } else if (isOwn) {
      own.append(text) += '\n';
      ++line;
    }
  }
  return own;
}

}  // namespace swage::toolchain
