// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFont>

#include <cstdint>
#include <functional>

#include "ui/widgets/theme.h"

class QObject;
class QsciLexer;

namespace swage::ui {

enum class CodeLanguage : std::uint8_t { Cuda, Cpp, Python, Ptx, Sass, X86, Json, Markdown, Plain };

// A lexer, and how it takes a theme's colours. Without a lexer for plain text.
struct ThemedLexer {
  QsciLexer* lexer = nullptr;  // owned by the parent
  std::function<void(const Theme&, const QFont&)> setTheme;
};
[[nodiscard]] ThemedLexer makeLexer(CodeLanguage language, QObject* parent);

}  // namespace swage::ui
