// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

#include <memory>

class QsciLexer;
class QsciScintilla;

namespace swage::ui {

// Offers words after three letters: those of the text, and the keywords of the lexer's language. Nothing is inserted
// unless it is chosen. What is returned has to end before the lexer does: a thread that sorts the words asks it. GUI
// thread only.
[[nodiscard]] std::unique_ptr<QObject> completeWords(QsciScintilla& editor, QsciLexer& lexer);

}  // namespace swage::ui
