// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFont>

#include <cstdint>
#include <functional>
#include <string_view>

#include "ui/widgets/theme.h"

class QObject;
class QsciLexer;

namespace swage::ui {

enum class CodeLanguage : std::uint8_t { Cuda, Cpp, Python, Ptx, Sass, X86, Json, Markdown, Plain };

// By the name that domain::LanguageFacts has for it; one that is not known here is plain text.
[[nodiscard]] CodeLanguage codeLanguage(std::string_view name);

// A lexer, and how it takes a theme's colours. Without a lexer for plain text.
struct ThemedLexer {
  QsciLexer* lexer = nullptr;  // owned by the parent
  std::function<void(const Theme&, const QFont&)> setTheme;
};
[[nodiscard]] ThemedLexer makeLexer(CodeLanguage language, QObject* parent);

}  // namespace swage::ui
