// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <Qsci/qscilexercpp.h>

#include <cstdint>

#include "ui/widgets/theme.h"

namespace swage::ui {

// C++ in the colours of the theme, with a second set of keywords: the words of CUDA, or those of kernels on a CPU.
class CudaLexer final : public QsciLexerCPP {
 public:
  enum class Words : std::uint8_t { Cuda, Host };

  CudaLexer(Words words, QObject* parent);
  void setTheme(const Theme& theme, const QFont& font);
  [[nodiscard]] const char* keywords(int set) const override;
  [[nodiscard]] const char* language() const override { return "CUDA C++"; }

 private:
  Words m_words;
};

}  // namespace swage::ui
