// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QWidget>

#include <optional>
#include <vector>

#include "core/domain/profile.h"
#include "core/domain/source_map.h"
#include "core/services/types.h"
#include "ui/editor/kernel_view.h"
#include "ui/widgets/theme.h"

class QAction;
class QLabel;
class QSplitter;

namespace swage::ui {

class EmptyState;

// Source, assembly and SASS of a candidate side by side, or below each other where there is no room. The line of the
// caret, and the line under the mouse, are marked in the other panes where line information links them; beside source
// and SASS stands the share of a profile's samples.
class CodePanes final : public QWidget {
  Q_OBJECT

 public:
  enum class Pane : std::uint8_t { Source, Assembly, Sass };

  explicit CodePanes(QWidget* parent = nullptr);
  void setTheme(const Theme& theme);
  void setCandidate(const services::CandidateDetail& detail, const std::optional<domain::Profile>& profile);
  // The text of the source pane; `isRecorded` says whether the listings still belong to it.
  void setSource(const QString& text, bool isRecorded);
  [[nodiscard]] KernelView& view(Pane pane) const { return *m_parts[static_cast<std::size_t>(pane)].view; }
  [[nodiscard]] QAction* toggle(Pane pane) const { return m_parts[static_cast<std::size_t>(pane)].toggle; }
  // Of the pane that has the focus, else of the source.
  [[nodiscard]] KernelView& focusedView() const;

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  struct Part {
    QWidget* box = nullptr;
    QLabel* title = nullptr;
    QLabel* note = nullptr;
    EmptyState* empty = nullptr;
    KernelView* view = nullptr;
    QAction* toggle = nullptr;
    domain::SourceMap map;  // empty for the source itself
  };

  Part makePart(Pane pane, const QString& title, const QString& name, const QString& emptySentence);
  void connectPart(Pane pane);
  void shareSpace();
  void setSass(const std::optional<domain::Profile>& profile);
  void setNotes(const services::CandidateDetail& detail, const std::optional<domain::Profile>& profile);
  // Marks what belongs to a line of one pane in all panes; -1 takes the marks away.
  void link(Pane from, int line, KernelView::Reveal reveal);
  [[nodiscard]] Part& part(Pane pane) { return m_parts[static_cast<std::size_t>(pane)]; }

  QSplitter* m_splitter;
  std::vector<Part> m_parts;
  bool m_isLinked = true;
};

// The SASS of a profile as one listing, with the lines of the source that its instructions came from.
struct SassView {
  QString text;
  domain::SourceMap map;
  std::vector<LineHeat> heat;
};
[[nodiscard]] SassView sassOf(const domain::Profile& profile);
// The share of all samples by line of the source.
[[nodiscard]] std::vector<LineHeat> heatOf(const domain::Profile& profile);

}  // namespace swage::ui
