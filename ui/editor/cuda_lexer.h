// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <Qsci/qscilexercpp.h>

#include "ui/widgets/theme.h"

namespace swage::ui {

// C++ with the words of CUDA as a second set of keywords, in the colours of the theme.
class CudaLexer final : public QsciLexerCPP {
 public:
  explicit CudaLexer(QObject* parent);
  void setTheme(const Theme& theme, const QFont& font);
  [[nodiscard]] const char* keywords(int set) const override;
  [[nodiscard]] const char* language() const override { return "CUDA C++"; }
};

}  // namespace swage::ui
