// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QJsonObject>
#include <QString>
#include <QWidget>

#include <optional>
#include <vector>

#include "core/domain/listing.h"
#include "core/domain/profile.h"
#include "core/domain/source_map.h"
#include "core/services/types.h"
#include "ui/editor/kernel_view.h"
#include "ui/widgets/theme.h"

class QAction;
class QLabel;
class QMenu;
class QSplitter;

namespace swage::ui {

class EmptyState;

// Source, assembly and SASS of a candidate side by side, below each other where they are too narrow for that, and one
// at a time where they are too low as well: then the toggles act as tabs. The line of the caret, and the line under the
// mouse, are marked in the other panes where line information links them; beside source and SASS stands the share of a
// profile's samples. What of a listing is shown can be chosen.
class CodePanes final : public QWidget {
  Q_OBJECT

 public:
  enum class Pane : std::uint8_t { Source, Assembly, Sass };

  explicit CodePanes(QWidget* parent = nullptr);
  void setTheme(const Theme& theme);
  void setCandidate(const services::CandidateDetail& detail, const std::optional<domain::Profile>& profile);
  // The text of the source pane; `isListed` says whether the listing belongs to it.
  void setSource(const QString& text, bool isListed);
  // The listing of a draft, or the recorded one again. `note` stands beside its title, with a tooltip.
  void setListing(const std::string& listing, domain::Language language);
  void setListingNote(const QString& note, const QString& tooltip);
  // What is left out of listings, and whether names are written as in the source.
  [[nodiscard]] QMenu* listingMenu() const { return m_listingMenu; }
  [[nodiscard]] const domain::ListingOptions& listingOptions() const { return m_listingOptions; }
  [[nodiscard]] QJsonObject saveState() const;
  void restoreState(const QJsonObject& state);
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
    bool isWanted = true;   // where there is room
    domain::SourceMap map;  // of the text that is shown; empty for the source itself
  };

  Part makePart(Pane pane, const QString& title, const QString& name, const QString& emptySentence);
  void connectPart(Pane pane);
  void makeListingMenu();
  void addFilter(const QString& text, const QString& tip, const QString& name, bool domain::ListingOptions::*option,
                 bool isHiding);
  void addControlCodes();
  void showListing();
  // Where two would have but a few lines each.
  [[nodiscard]] bool isTight() const;
  void choose(Pane pane, bool isShown);
  void arrange();
  void showSass();
  void setNotes(const services::CandidateDetail& detail, const std::optional<domain::Profile>& profile);
  // Marks what belongs to a line of one pane in all panes; -1 takes the marks away.
  void link(Pane from, int line, KernelView::Reveal reveal);
  [[nodiscard]] Part& part(Pane pane) { return m_parts[static_cast<std::size_t>(pane)]; }

  QSplitter* m_splitter;
  std::vector<Part> m_parts;
  Pane m_front = Pane::Source;  // where there is no room for more
  bool m_isArranging = false;
  bool m_wasTight = false;
  bool m_isLinked = true;
  std::string m_listing;  // all of it
  domain::ListingOptions m_listingOptions;
  std::optional<domain::Profile> m_profile;
  QAction* m_controlCodes = nullptr;
  QMenu* m_listingMenu;
};

// A listing as it is shown, and the lines of the source that its lines came from.
struct ShownListing {
  QString text;
  domain::SourceMap map;
};
[[nodiscard]] ShownListing shownListing(const std::string& listing, const domain::ListingOptions& options);

// The SASS of a profile as one listing, with the lines of the source that its instructions came from.
struct SassView {
  QString text;
  domain::SourceMap map;
  std::vector<LineHeat> heat;
};
// `withControlCodes`: what the compiler tells the scheduler stands before each instruction.
[[nodiscard]] SassView sassOf(const domain::Profile& profile, bool withControlCodes = false);
// The share of all samples by line of the source.
[[nodiscard]] std::vector<LineHeat> heatOf(const domain::Profile& profile);

}  // namespace swage::ui
