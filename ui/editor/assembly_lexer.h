// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <Qsci/qscilexercustom.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "ui/widgets/theme.h"

namespace swage::ui {

// The listings that Swage shows. They look alike: one statement a line, an opcode and its operands.
enum class AssemblyDialect : std::uint8_t {
  Ptx,
  Sass,  // of nvdisasm
  X86,   // of objdump -M intel
};

enum class AssemblyStyle : std::uint8_t { Plain, Comment, Directive, Label, Opcode, Register, Number, String, Count };

struct AssemblySpan {
  std::size_t length = 0;
  AssemblyStyle style = AssemblyStyle::Plain;
  friend bool operator==(const AssemblySpan&, const AssemblySpan&) = default;
};

// One line cut into spans that together are as long as it is.
[[nodiscard]] std::vector<AssemblySpan> styleAssembly(AssemblyDialect dialect, std::string_view line);

// Colours a listing. No line needs the one before it, so that an edit or a scroll only restyles what is shown.
class AssemblyLexer final : public QsciLexerCustom {
 public:
  AssemblyLexer(AssemblyDialect dialect, QObject* parent);
  void setTheme(const Theme& theme, const QFont& font);
  [[nodiscard]] const char* language() const override { return "Assembly"; }
  [[nodiscard]] QString description(int style) const override;
  void styleText(int start, int end) override;

 private:
  AssemblyDialect m_dialect;
};

}  // namespace swage::ui
