// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/editor/completion.h"

#include <Qsci/qsciapis.h>
#include <Qsci/qscilexer.h>
#include <Qsci/qsciscintilla.h>

namespace swage::ui {
namespace {

constexpr int kLetters = 3;
constexpr int kKeywordSets = 2;  // of the language, and of CUDA or of kernels on a CPU

}  // namespace

std::unique_ptr<QObject> completeWords(QsciScintilla& editor, QsciLexer& lexer) {
  auto words = std::make_unique<QsciAPIs>(&lexer);
  for (int set = 1; set <= kKeywordSets; ++set) {
    const QString keywords = QString::fromLatin1(lexer.keywords(set));
    for (const QString& word : keywords.split(u' ', Qt::SkipEmptyParts)) {
      words->add(word);
    }
  }
  words->prepare();
  editor.setAutoCompletionSource(QsciScintilla::AcsAll);
  editor.setAutoCompletionThreshold(kLetters);
  editor.setAutoCompletionCaseSensitivity(true);
  editor.setAutoCompletionReplaceWord(false);
  return words;
}

}  // namespace swage::ui
