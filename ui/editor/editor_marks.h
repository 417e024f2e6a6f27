// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <Qsci/qsciscintilla.h>
#include <Qsci/qscistyle.h>

#include <QString>

#include <vector>

#include "core/domain/diagnostic.h"
#include "ui/editor/line_heat.h"
#include "ui/widgets/theme.h"

namespace swage::ui {

// Lines that differ from an earlier text: new or other ones, and those before which something is gone.
struct LineChanges {
  std::vector<int> changed;
  std::vector<int> removed;
  friend bool operator==(const LineChanges&, const LineChanges&) = default;
};

// What a view shows beside and below its text: what the compiler said, the lines linked with another listing, and where
// the time goes. Lines are 0-based.
class EditorMarks {
 public:
  explicit EditorMarks(QsciScintilla& editor);

  void setTheme(const Theme& theme, const QFont& font);
  void setDiagnostics(std::vector<domain::Diagnostic> diagnostics);
  void setHeat(std::vector<LineHeat> heat);
  void setLinkedLines(const std::vector<int>& lines);

  // `hasMargin`: there is an earlier text, so that there is room for marks even where nothing differs yet.
  void setChanges(LineChanges changes, bool hasMargin);
  [[nodiscard]] const LineChanges& changes() const { return m_changes; }

  [[nodiscard]] const std::vector<domain::Diagnostic>& diagnostics() const { return m_diagnostics; }
  [[nodiscard]] const std::vector<int>& linkedLines() const { return m_linked; }
  [[nodiscard]] const std::vector<LineHeat>& heat() const { return m_heat; }
  // The hottest line, then the next: -1 without any. `step` 1 or -1, from the line given.
  [[nodiscard]] int hotSpotFrom(int line, int step) const;
  // What is to be said about a line; empty: nothing.
  [[nodiscard]] QString tooltip(int line) const;

 private:
  void drawDiagnostics();
  void drawHeat();
  void underline(const domain::Diagnostic& diagnostic);

  QsciScintilla& m_editor;
  Theme m_theme = Theme::light();
  std::vector<QsciStyle> m_heatStyles;
  QsciStyle m_coolStyle;  // of lines that are no hot spots
  std::vector<domain::Diagnostic> m_diagnostics;
  std::vector<LineHeat> m_heat;
  std::vector<int> m_linked;
  LineChanges m_changes;
};

}  // namespace swage::ui
