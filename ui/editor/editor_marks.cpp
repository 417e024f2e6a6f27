// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/editor/editor_marks.h"

#include <QCoreApplication>
#include <QStringList>

#include <algorithm>

#include "ui/models/color_map.h"
#include "ui/models/format.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

// Margins, markers and indicators of the editor. QScintilla keeps markers from 25 on for folding.
constexpr int kDiagnosticMargin = 2;
constexpr int kHeatMargin = 3;
constexpr int kChangeMargin = 4;
constexpr int kChangeMarginPixels = 4;
constexpr int kErrorMarker = 0;
constexpr int kWarningMarker = 1;
constexpr int kLinkedMarker = 2;
constexpr int kChangedMarker = 3;
constexpr int kRemovedMarker = 4;
constexpr int kErrorIndicator = 8;
constexpr int kWarningIndicator = 9;
constexpr int kHeatLevels = 8;
// Styles of this editor alone: below 32 they are the lexer's, up to 39 Scintilla's own. QsciStyle would else take a new
// number for every editor, and run into those.
constexpr int kCoolStyle = 40;
constexpr int kFirstHeatStyle = 41;
constexpr double kHotSpot = 0.02;  // of all samples: what is less is nothing to jump to

int levelOf(double share, double most) {
  return std::clamp(static_cast<int>(share / most * kHeatLevels), 0, kHeatLevels - 1);
}

QString percent(double share) {
  return share >= 0.0995 ? QString::number(share * 100.0, 'f', 0) % u" %"_s
                         : QString::number(share * 100.0, 'f', 1) % u" %"_s;
}

}  // namespace

EditorMarks::EditorMarks(QsciScintilla& editor) : m_editor(editor), m_coolStyle(kCoolStyle) {
  for (int level = 0; level < kHeatLevels; ++level) {
    m_heatStyles.emplace_back(kFirstHeatStyle + level);
  }
  m_editor.setMarginType(kDiagnosticMargin, QsciScintilla::SymbolMargin);
  m_editor.setMarginMarkerMask(kDiagnosticMargin, (1 << kErrorMarker) | (1 << kWarningMarker));
  m_editor.setMarginWidth(kDiagnosticMargin, u" "_s);
  m_editor.setMarginType(kHeatMargin, QsciScintilla::TextMarginRightJustified);
  m_editor.setMarginWidth(kHeatMargin, 0);
  m_editor.setMarginMarkerMask(kHeatMargin, 0);
  m_editor.setMarginType(kChangeMargin, QsciScintilla::SymbolMargin);
  m_editor.setMarginWidth(kChangeMargin, 0);
  m_editor.setMarginMarkerMask(kChangeMargin, (1 << kChangedMarker) | (1 << kRemovedMarker));
  m_editor.markerDefine(QsciScintilla::FullRectangle, kChangedMarker);
  m_editor.markerDefine(QsciScintilla::Underline, kRemovedMarker);
  // Two shapes, so that nobody has to tell them by colour.
  m_editor.markerDefine(QsciScintilla::Circle, kErrorMarker);
  m_editor.markerDefine(QsciScintilla::RightTriangle, kWarningMarker);
  m_editor.markerDefine(QsciScintilla::Background, kLinkedMarker);
  m_editor.indicatorDefine(QsciScintilla::SquiggleIndicator, kErrorIndicator);
  m_editor.indicatorDefine(QsciScintilla::SquiggleIndicator, kWarningIndicator);
}

void EditorMarks::setTheme(const Theme& theme, const QFont& font) {
  m_theme = theme;
  m_editor.setMarkerForegroundColor(theme.bad, kErrorMarker);
  m_editor.setMarkerBackgroundColor(theme.bad, kErrorMarker);
  m_editor.setMarkerForegroundColor(theme.caution, kWarningMarker);
  m_editor.setMarkerBackgroundColor(theme.caution, kWarningMarker);
  m_editor.setMarkerBackgroundColor(theme.linkedLine, kLinkedMarker);
  m_editor.setMarkerBackgroundColor(theme.accent, kChangedMarker);
  m_editor.setMarkerForegroundColor(theme.accent, kChangedMarker);
  m_editor.setMarkerBackgroundColor(theme.bad, kRemovedMarker);
  m_editor.setMarkerForegroundColor(theme.bad, kRemovedMarker);
  m_editor.setIndicatorForegroundColor(theme.bad, kErrorIndicator);
  m_editor.setIndicatorForegroundColor(theme.caution, kWarningIndicator);
  for (int level = 0; level < kHeatLevels; ++level) {
    const QColor paper = mapColor(theme.heat, static_cast<double>(level) / (kHeatLevels - 1));
    QsciStyle& style = m_heatStyles[static_cast<std::size_t>(level)];
    style.setFont(font);
    style.setPaper(paper);
    style.setColor(readableOn(paper));
  }
  m_coolStyle.setFont(font);
  m_coolStyle.setPaper(theme.alternateBase);
  m_coolStyle.setColor(theme.mutedText);
  drawHeat();
}

void EditorMarks::setDiagnostics(std::vector<domain::Diagnostic> diagnostics) {
  m_diagnostics = std::move(diagnostics);
  drawDiagnostics();
}

void EditorMarks::drawDiagnostics() {
  m_editor.markerDeleteAll(kErrorMarker);
  m_editor.markerDeleteAll(kWarningMarker);
  const int last = m_editor.lines() - 1;
  for (const int indicator : {kErrorIndicator, kWarningIndicator}) {
    m_editor.clearIndicatorRange(0, 0, last, m_editor.lineLength(last), indicator);
  }
  bool any = false;
  for (const domain::Diagnostic& one : m_diagnostics) {
    if (one.line > 0 && one.line <= m_editor.lines() && one.severity != domain::Diagnostic::Severity::Note) {
      const bool isError = one.severity == domain::Diagnostic::Severity::Error;
      m_editor.markerAdd(one.line - 1, isError ? kErrorMarker : kWarningMarker);
      underline(one);
      any = true;
    }
  }
  m_editor.setMarginWidth(kDiagnosticMargin, any ? u"00"_s : u" "_s);
}

// What the compiler underlined; where it said only a column, the word there; else the line without its indentation.
void EditorMarks::underline(const domain::Diagnostic& diagnostic) {
  const int line = diagnostic.line - 1;
  const QByteArray text = m_editor.text(line).toUtf8();
  qsizetype begin = diagnostic.column - 1;
  qsizetype length = diagnostic.length;
  if (begin < 0 || begin >= text.size()) {
    begin = 0;
    while (begin < text.size() && (text[begin] == ' ' || text[begin] == '\t')) {
      ++begin;
    }
    length = text.trimmed().size();
  } else if (length <= 1) {
    const auto isWord = [&text](qsizetype at) {
      return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_');
    };
    length = 1;
    while (isWord(begin) && isWord(begin + length)) {
      ++length;
    }
  }
  const auto start = m_editor.SendScintilla(QsciScintilla::SCI_POSITIONFROMLINE, static_cast<long>(line)) + begin;
  const bool isError = diagnostic.severity == domain::Diagnostic::Severity::Error;
  m_editor.SendScintilla(QsciScintilla::SCI_SETINDICATORCURRENT, isError ? kErrorIndicator : kWarningIndicator);
  m_editor.SendScintilla(QsciScintilla::SCI_INDICATORFILLRANGE, static_cast<unsigned long>(start),
                         static_cast<long>(std::max<qsizetype>(length, 1)));
}

// Marks follow their lines as these move, so that they are set anew also where the numbers stay.
void EditorMarks::setChanges(LineChanges changes, bool hasMargin) {
  m_editor.setMarginWidth(kChangeMargin, hasMargin ? kChangeMarginPixels : 0);
  if (changes == LineChanges() && m_changes == LineChanges()) {
    return;
  }
  m_changes = std::move(changes);
  m_editor.markerDeleteAll(kChangedMarker);
  m_editor.markerDeleteAll(kRemovedMarker);
  for (const int line : m_changes.changed) {
    m_editor.markerAdd(line, kChangedMarker);
  }
  // Below the line before the gap.
  for (const int line : m_changes.removed) {
    m_editor.markerAdd(std::max(line - 1, 0), kRemovedMarker);
  }
}

void EditorMarks::setHeat(std::vector<LineHeat> heat) {
  m_heat = std::move(heat);
  std::sort(m_heat.begin(), m_heat.end(), [](const LineHeat& a, const LineHeat& b) { return a.line < b.line; });
  drawHeat();
}

void EditorMarks::drawHeat() {
  m_editor.clearMarginText();
  m_editor.setMarginWidth(kHeatMargin, m_heat.empty() ? QString() : u" 100 % "_s);
  double most = 0.0;
  for (const LineHeat& one : m_heat) {
    most = std::max(most, one.share);
  }
  for (const LineHeat& one : m_heat) {
    if (one.line >= 0 && one.line < m_editor.lines() && most > 0.0) {
      const auto level = static_cast<std::size_t>(levelOf(one.share, most));
      m_editor.setMarginText(one.line, u" "_s % percent(one.share) % u" "_s,
                             one.share >= kHotSpot ? m_heatStyles[level] : m_coolStyle);
    }
  }
}

void EditorMarks::setLinkedLines(const std::vector<int>& lines) {
  if (lines == m_linked) {
    return;
  }
  m_linked = lines;
  m_editor.markerDeleteAll(kLinkedMarker);
  for (const int line : lines) {
    m_editor.markerAdd(line, kLinkedMarker);
  }
}

int EditorMarks::hotSpotFrom(int line, int step) const {
  std::vector<int> spots;
  for (const LineHeat& one : m_heat) {
    if (one.share >= kHotSpot) {
      spots.push_back(one.line);
    }
  }
  if (spots.empty()) {
    return -1;
  }
  if (step > 0) {
    const auto next = std::upper_bound(spots.begin(), spots.end(), line);
    return next == spots.end() ? spots.front() : *next;
  }
  const auto next = std::lower_bound(spots.begin(), spots.end(), line);
  return next == spots.begin() ? spots.back() : *(next - 1);
}

QString EditorMarks::tooltip(int line) const {
  QStringList parts;
  for (const domain::Diagnostic& one : m_diagnostics) {
    if (one.line == line + 1) {
      parts.push_back(toQString(name(one.severity)) % u": "_s % toQString(one.message));
    }
  }
  for (const LineHeat& one : m_heat) {
    if (one.line == line && !one.tooltip.isEmpty()) {
      parts.push_back(one.tooltip);
    }
  }
  return parts.join(u'\n');
}

}  // namespace swage::ui
