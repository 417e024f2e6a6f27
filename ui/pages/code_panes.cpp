// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/code_panes.h"

#include <QAction>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QResizeEvent>
#include <QScopedValueRollback>
#include <QSplitter>
#include <QVBoxLayout>

#include <algorithm>
#include <map>

#include "core/domain/control_code.h"
#include "ui/models/format.h"
#include "ui/widgets/empty_state.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

constexpr int kSideBySideColumns = 130;  // of average characters: less, and panes stand below each other
constexpr int kStallsInTooltip = 3;

std::int64_t samplesOf(const domain::Profile& profile) {
  std::int64_t total = 0;
  for (const domain::KernelProfile& kernel : profile.kernels) {
    for (const domain::InstructionSamples& at : kernel.instructions) {
      total += at.samples;
    }
  }
  return total;
}

using Stalls = std::map<std::string, double>;

void addStalls(Stalls& into, const domain::InstructionSamples& at) {
  for (const domain::ProfileMetric& stall : at.stalls) {
    into[stall.name] += stall.value;
  }
}

// "1,234 samples" and the worst reasons to wait.
QString describeSamples(std::int64_t samples, const Stalls& stalls) {
  QStringList lines = {CodePanes::tr("%1 samples").arg(formatCount(samples))};
  std::vector<std::pair<double, std::string>> worst;
  for (const auto& [name, value] : stalls) {
    worst.emplace_back(value, name);
  }
  std::sort(worst.rbegin(), worst.rend());
  for (const auto& [value, name] : worst) {
    if (lines.size() > kStallsInTooltip || value <= 0.0 || samples == 0) {
      break;
    }
    lines.push_back(
        CodePanes::tr("%1 % %2").arg(100.0 * value / static_cast<double>(samples), 0, 'f', 0).arg(toQString(name)));
  }
  return lines.join(u'\n');
}

// A comment, so that the lexer and whoever copies the listing take it for one.
QString controlColumn(const std::optional<std::uint32_t>& bits) {
  static const auto kWidth = static_cast<int>(domain::toText({}).size());
  const std::string text = bits ? domain::toText(domain::controlCode(*bits)) : std::string();
  return u"/*%1*/  "_s.arg(toQString(text), -kWidth);
}

bool hasControlCodes(const domain::Profile& profile) {
  return std::any_of(profile.kernels.begin(), profile.kernels.end(), [](const domain::KernelProfile& kernel) {
    return std::any_of(kernel.instructions.begin(), kernel.instructions.end(),
                       [](const domain::InstructionSamples& at) { return at.control.has_value(); });
  });
}

QLabel* makeTitle(const QString& text) {
  auto* label = new QLabel(text);
  QFont font = label->font();
  font.setWeight(QFont::DemiBold);
  label->setFont(font);
  return label;
}

QString sentenceWithoutListing(const services::CandidateDetail& detail) {
  if (detail.evaluation && std::holds_alternative<domain::CompileFailed>(*detail.evaluation)) {
    return CodePanes::tr("Compilation failed.");
  }
  return detail.kernels.empty() ? CodePanes::tr("No assembly: this candidate has no compiled kernel.")
                                : CodePanes::tr("Its assembly is not in this record.");
}

// A PTX listing begins with its constants; others with their first function.
int firstFunctionLine(const QString& listing) {
  const qsizetype entry = listing.indexOf(u"\n.visible .entry"_s);
  return entry < 0 ? 0 : static_cast<int>(QStringView(listing).left(entry + 1).count(u'\n'));
}

}  // namespace

ShownListing shownListing(const std::string& listing, const domain::ListingOptions& options) {
  const domain::Listing readable = domain::readableListing(listing, options);
  const domain::SourceMap whole = domain::mapListing(listing);
  ShownListing shown;
  shown.text = toQString(readable.text);
  shown.map.lineOf.reserve(readable.lineOf.size());
  for (const int line : readable.lineOf) {
    const auto at = static_cast<std::size_t>(line);
    shown.map.lineOf.push_back(at < whole.lineOf.size() ? whole.lineOf[at] : 0);
  }
  return shown;
}

SassView sassOf(const domain::Profile& profile, bool withControlCodes) {
  SassView sass;
  const auto total = static_cast<double>(samplesOf(profile));
  QStringList lines;
  for (const domain::KernelProfile& kernel : profile.kernels) {
    const bool hasText = std::any_of(kernel.instructions.begin(), kernel.instructions.end(),
                                     [](const auto& at) { return !at.text.empty(); });
    if (!hasText) {
      continue;
    }
    lines.push_back(toQString(kernel.entry) % u':');
    sass.map.lineOf.push_back(0);
    for (const domain::InstructionSamples& at : kernel.instructions) {
      if (at.samples > 0 && total > 0.0) {
        Stalls stalls;
        addStalls(stalls, at);
        sass.heat.push_back({static_cast<int>(lines.size()), static_cast<double>(at.samples) / total,
                             describeSamples(at.samples, stalls)});
      }
      const QString control = !withControlCodes ? QString() : controlColumn(at.control);
      lines.push_back(u"  /*%1*/  %2%3"_s.arg(at.offset, 4, 16, QLatin1Char('0')).arg(control, toQString(at.text)));
      sass.map.lineOf.push_back(at.line);
    }
  }
  sass.text = lines.join(u'\n');
  return sass;
}

std::vector<LineHeat> heatOf(const domain::Profile& profile) {
  std::map<int, std::pair<std::int64_t, Stalls>> byLine;
  for (const domain::KernelProfile& kernel : profile.kernels) {
    for (const domain::InstructionSamples& at : kernel.instructions) {
      if (at.line > 0 && at.samples > 0) {
        byLine[at.line].first += at.samples;
        addStalls(byLine[at.line].second, at);
      }
    }
  }
  const auto total = static_cast<double>(samplesOf(profile));
  std::vector<LineHeat> heat;
  heat.reserve(byLine.size());
  for (const auto& [line, sum] : byLine) {
    heat.push_back({line - 1, static_cast<double>(sum.first) / total, describeSamples(sum.first, sum.second)});
  }
  return heat;
}

CodePanes::CodePanes(QWidget* parent)
    : QWidget(parent), m_splitter(new QSplitter(Qt::Vertical)), m_listingMenu(new QMenu(tr("Listing"), this)) {
  m_splitter->setObjectName(u"codeSplitter"_s);
  m_splitter->setChildrenCollapsible(false);
  m_parts.push_back(
      makePart(Pane::Source, tr("Source"), u"sourceView"_s,
               tr("This candidate has no kernel of its own: every step is a PyTorch operator. See Plan.")));
  m_parts.push_back(makePart(Pane::Assembly, tr("Assembly"), u"assemblyView"_s,
                             tr("No assembly: this candidate has no compiled kernel.")));
  m_parts.push_back(
      makePart(Pane::Sass, tr("SASS"), u"sassView"_s,
               tr("SASS comes with a profile, where nvdisasm is installed: press Profile on the Profile page.")));
  for (const Pane pane : {Pane::Source, Pane::Assembly, Pane::Sass}) {
    connectPart(pane);
  }
  part(Pane::Sass).isWanted = false;
  arrange();
  m_listingOptions.comments = false;  // a PTX listing begins with seven lines of them
  makeListingMenu();
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->addWidget(m_splitter);
}

CodePanes::Part CodePanes::makePart(Pane pane, const QString& title, const QString& name,
                                    const QString& emptySentence) {
  Part made;
  made.box = new QWidget;
  made.view = new KernelView(pane == Pane::Sass ? KernelView::Language::Sass : KernelView::Language::Cpp);
  made.view->setObjectName(name);
  made.view->setTitle(title);
  made.view->releaseShortcuts();
  made.empty = new EmptyState(made.view, emptySentence);
  made.note = new QLabel;
  made.note->setObjectName(QString(name % u"Note"_s));
  made.note->setForegroundRole(QPalette::PlaceholderText);
  auto* heading = new QHBoxLayout;
  heading->setContentsMargins(10, 4, 10, 4);
  made.title = makeTitle(title);
  heading->addWidget(made.title);
  heading->addStretch(1);
  heading->addWidget(made.note);
  auto* column = new QVBoxLayout(made.box);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addLayout(heading);
  column->addWidget(made.empty, 1);
  made.toggle = new QAction(title, this);
  made.toggle->setObjectName(QString(u"show_"_s % name));
  made.toggle->setCheckable(true);
  made.toggle->setChecked(true);
  m_splitter->addWidget(made.box);
  return made;
}

void CodePanes::connectPart(Pane pane) {
  Part& made = part(pane);
  connect(made.toggle, &QAction::toggled, this, [this, pane](bool isShown) {
    if (!m_isArranging) {
      choose(pane, isShown);
    }
  });
  connect(made.view, &KernelView::caretLineChanged, this, [this, pane](int line) {
    if (view(pane).hasFocus() || view(pane).focusProxy()->hasFocus()) {
      link(pane, line, KernelView::Reveal::Yes);
    }
  });
  connect(made.view, &KernelView::lineHovered, this, [this, pane](int line) {
    // Without the mouse the caret's line holds.
    link(line < 0 ? Pane::Source : pane, line < 0 ? view(Pane::Source).caretLine() : line, KernelView::Reveal::No);
  });
}

// As Compiler Explorer has them: what is checked is taken out, or written plainly.
void CodePanes::makeListingMenu() {
  using Options = domain::ListingOptions;
  m_listingOptions.library = false;
  m_listingOptions.unusedLabels = false;
  m_listingMenu->setObjectName(u"listingMenu"_s);
  m_listingMenu->setToolTipsVisible(true);
  addFilter(tr("&Demangle Names"), tr("swage::sum() instead of _ZN5swage3sumEv"), u"demangle"_s, &Options::demangle,
            false);
  m_listingMenu->addSeparator();
  addFilter(tr("Hide Dir&ectives"), tr("Lines for the assembler: .file, .section, debug information"), u"directives"_s,
            &Options::directives, true);
  addFilter(tr("Hide &Source Lines"), tr("Lines that only name a line of the source, such as source.cpp:12"),
            u"places"_s, &Options::places, true);
  addFilter(tr("Hide &Unused Labels"), tr("Labels that nothing jumps to"), u"unusedLabels"_s, &Options::unusedLabels,
            true);
  addFilter(tr("Hide &Library Functions"), tr("Functions that have no line of the source"), u"library"_s,
            &Options::library, true);
  addFilter(tr("Hide &Comments"), tr("Lines that hold nothing but a comment"), u"comments"_s, &Options::comments, true);
  addFilter(tr("Hide &Addresses"), tr("Of instructions and of what they jump to"), u"addresses"_s, &Options::addresses,
            true);
  m_listingMenu->addSeparator();
  addControlCodes();
}

void CodePanes::addControlCodes() {
  m_controlCodes = m_listingMenu->addAction(tr("Show Con&trol Codes of SASS"));
  m_controlCodes->setObjectName(u"listing_controlCodes"_s);
  m_controlCodes->setToolTip(
      tr("What the compiler tells the scheduler, such as B-1----:R-:W0:-:S04:\n"
         "B  barriers that the instruction waits for (0 to 5)\n"
         "R, W  the barrier that is released once operands are read, once the result is written\n"
         "Y  another warp may go first\n"
         "S  cycles until the next instruction of the warp"));
  m_controlCodes->setCheckable(true);
  connect(m_controlCodes, &QAction::toggled, this, &CodePanes::showSass);
}

void CodePanes::addFilter(const QString& text, const QString& tip, const QString& name,
                          bool domain::ListingOptions::*option, bool isHiding) {
  QAction* action = m_listingMenu->addAction(text);
  action->setObjectName(u"listing_"_s % name);
  action->setToolTip(tip);
  action->setCheckable(true);
  action->setChecked(m_listingOptions.*option != isHiding);
  connect(action, &QAction::toggled, this, [this, option, isHiding](bool isChecked) {
    m_listingOptions.*option = isChecked != isHiding;
    showListing();
  });
}

QJsonObject CodePanes::saveState() const {
  QJsonObject state;
  for (const QAction* action : m_listingMenu->actions()) {
    if (action->isCheckable()) {
      state[action->objectName()] = action->isChecked();
    }
  }
  return state;
}

void CodePanes::restoreState(const QJsonObject& state) {
  for (QAction* action : m_listingMenu->actions()) {
    if (action->isCheckable()) {
      action->setChecked(state[action->objectName()].toBool(action->isChecked()));
    }
  }
}

bool CodePanes::isTight() const {
  constexpr int kLinesOfTwo = 22;
  return m_splitter->orientation() == Qt::Vertical && height() < kLinesOfTwo * fontMetrics().lineSpacing();
}

void CodePanes::choose(Pane pane, bool isShown) {
  if (isTight()) {
    m_front = pane;  // also where it was in front: one has to be
    part(pane).isWanted = true;
  } else {
    part(pane).isWanted = isShown;
    m_front = isShown ? pane : Pane::Source;
  }
  arrange();
}

// The source gets a little more than the listings.
void CodePanes::arrange() {
  constexpr int kShares[] = {5, 4, 4};
  const bool isTight = this->isTight();
  const QScopedValueRollback arranging(m_isArranging, true);
  for (const Pane pane : {Pane::Source, Pane::Assembly, Pane::Sass}) {
    const bool isShown = isTight ? pane == m_front : part(pane).isWanted;
    part(pane).toggle->setChecked(isShown);
    part(pane).box->setVisible(isShown);
  }
  m_splitter->setSizes({kShares[0] * width(), kShares[1] * width(), kShares[2] * width()});
}

void CodePanes::setTheme(const Theme& theme) {
  for (const Part& one : m_parts) {
    one.view->setTheme(theme);
  }
}

void CodePanes::setCandidate(const services::CandidateDetail& detail, const std::optional<domain::Profile>& profile) {
  const domain::LanguageFacts& language = domain::factsOf(detail.program.language);
  part(Pane::Source).empty->setEmpty(detail.program.source.empty());
  view(Pane::Source).setLanguage(codeLanguage(language.lexer));
  const QString listing = toQString(language.listing);
  part(Pane::Assembly).title->setText(listing);
  toggle(Pane::Assembly)->setText(listing);
  toggle(Pane::Sass)->setVisible(language.hasMachineListing);
  if (m_front == Pane::Sass && !language.hasMachineListing) {
    m_front = Pane::Source;
    arrange();
  }
  part(Pane::Assembly).empty->setSentence(sentenceWithoutListing(detail));
  setListing(detail.assembly, detail.program.language);
  if (!view(Pane::Assembly).wasKnown()) {
    view(Pane::Assembly).setTopLine(firstFunctionLine(view(Pane::Assembly).text()));
  }
  m_profile = profile;
  showSass();
  setNotes(detail, profile);
}

void CodePanes::setListing(const std::string& listing, domain::Language language) {
  m_listing = listing;
  view(Pane::Assembly).setLanguage(codeLanguage(domain::factsOf(language).listingLexer));
  showListing();
}

void CodePanes::showListing() {
  ShownListing shown = shownListing(m_listing, m_listingOptions);
  const int top = view(Pane::Assembly).firstVisibleLine();
  view(Pane::Assembly).setLinkedLines({}, KernelView::Reveal::No);
  view(Pane::Assembly).setText(shown.text);
  if (!view(Pane::Assembly).wasKnown()) {
    view(Pane::Assembly).setTopLine(top);  // what follows each key must not jump
  }
  part(Pane::Assembly).map = std::move(shown.map);
  part(Pane::Assembly).empty->setEmpty(m_listing.empty());
}

void CodePanes::setListingNote(const QString& note, const QString& tooltip) {
  part(Pane::Assembly).note->setText(note);
  part(Pane::Assembly).note->setToolTip(tooltip);
}

void CodePanes::showSass() {
  m_controlCodes->setEnabled(m_profile && hasControlCodes(*m_profile));
  SassView sass = m_profile ? sassOf(*m_profile, m_controlCodes->isChecked()) : SassView();
  view(Pane::Sass).setLinkedLines({}, KernelView::Reveal::No);
  view(Pane::Sass).setText(sass.text);
  view(Pane::Sass).setHeat(std::move(sass.heat));
  part(Pane::Sass).map = std::move(sass.map);
  part(Pane::Sass).empty->setEmpty(sass.text.isEmpty());
}

void CodePanes::setNotes(const services::CandidateDetail& detail, const std::optional<domain::Profile>& profile) {
  const auto linkNote = [](const Part& listing, bool hasText) {
    listing.note->setText(hasText && listing.map.isEmpty() ? tr("no line information") : QString());
    listing.note->setToolTip(listing.note->text().isEmpty()
                                 ? QString()
                                 : tr("The compiler recorded no lines, so that nothing links this to the source."));
  };
  linkNote(part(Pane::Assembly), !detail.assembly.empty());
  linkNote(part(Pane::Sass), !view(Pane::Sass).text().isEmpty());
  const std::vector<LineHeat> heat = profile ? heatOf(*profile) : std::vector<LineHeat>();
  view(Pane::Source).setHeat(heat);
  part(Pane::Source).note->setText(heat.empty() ? QString() : tr("%1 samples").arg(formatCount(samplesOf(*profile))));
}

void CodePanes::setSource(const QString& text, bool isListed) {
  view(Pane::Source).setText(text);
  m_isLinked = isListed;
  if (!m_isLinked) {
    link(Pane::Source, -1, KernelView::Reveal::No);
  }
}

void CodePanes::link(Pane from, int line, KernelView::Reveal reveal) {
  int source = 0;
  if (line >= 0 && m_isLinked) {
    const std::vector<int>& lineOf = part(from).map.lineOf;
    const auto index = static_cast<std::size_t>(line);
    source = from == Pane::Source ? line + 1 : index < lineOf.size() ? lineOf[index] : 0;
  }
  for (const Pane pane : {Pane::Source, Pane::Assembly, Pane::Sass}) {
    std::vector<int> lines;
    if (pane != Pane::Source) {
      lines = part(pane).map.listingLines(source);
    } else if (source > 0 && from != Pane::Source) {
      lines = {source - 1};
    }
    view(pane).setLinkedLines(lines, pane == from ? KernelView::Reveal::No : reveal);
  }
}

KernelView& CodePanes::focusedView() const {
  for (const Part& one : m_parts) {
    if (one.view->isAncestorOf(one.view->window()->focusWidget())) {
      return *one.view;
    }
  }
  return view(Pane::Source);
}

void CodePanes::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  const bool isWide = event->size().width() >= kSideBySideColumns * fontMetrics().averageCharWidth();
  const Qt::Orientation orientation = isWide ? Qt::Horizontal : Qt::Vertical;
  const bool isTurned = orientation != m_splitter->orientation();
  m_splitter->setOrientation(orientation);
  // Sizes that the user gave are kept otherwise.
  if (isTurned || m_wasTight != isTight() || event->oldSize().width() <= 0) {
    m_wasTight = isTight();
    arrange();
  }
}

}  // namespace swage::ui
