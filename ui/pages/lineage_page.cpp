// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/lineage_page.h"

#include <QComboBox>
#include <QLabel>
#include <QSpinBox>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

#include "ui/models/format.h"
#include "ui/pages/candidate_menu.h"
#include "ui/widgets/elided_label.h"
#include "ui/widgets/empty_state.h"
#include "ui/widgets/flow_layout.h"
#include "ui/widgets/lineage_view.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

constexpr int kMaxGenerations = 50;

QSpinBox* makeGenerations(const QString& name, const QString& text, int value, QWidget* parent) {
  auto* box = new QSpinBox(parent);
  box->setObjectName(name);
  box->setAccessibleName(text);
  box->setRange(0, kMaxGenerations);
  box->setValue(value);
  return box;
}

}  // namespace

LineagePage::LineagePage(ProjectSession& session, const services::RecordService& record, QWidget* parent)
    : QWidget(parent),
      m_session(session),
      m_record(record),
      m_view(new LineageView),
      m_empty(new EmptyState(m_view, tr("Choose a candidate to see where it comes from and what was made of it."))),
      m_title(new ElidedLabel(Qt::ElideRight, this)),
      m_ancestors(makeGenerations(u"ancestorGenerations"_s, tr("Generations of ancestors"), 6, this)),
      m_descendants(makeGenerations(u"descendantGenerations"_s, tr("Generations of descendants"), 2, this)),
      m_show(new QComboBox(this)) {
  setObjectName(u"lineagePage"_s);
  setFocusProxy(m_view);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(makeBar());
  column->addWidget(m_empty, 1);
  connect(m_view, &LineageView::currentChanged, &session, &ProjectSession::selectCandidate);
  connect(m_view, &LineageView::activated, this, &LineagePage::candidateOpened);
  connect(m_view, &LineageView::menuRequested, this, [this](domain::CandidateId id, const QPoint& position) {
    if (m_menu != nullptr) {
      m_menu->popup(*m_view, position, {id});
    }
  });
  connect(&session, &ProjectSession::selectionChanged, this, &LineagePage::showSelection);
  connect(&session, &ProjectSession::runShown, this, &LineagePage::reload);
  connect(m_ancestors, &QSpinBox::valueChanged, this, &LineagePage::reload);
  connect(m_descendants, &QSpinBox::valueChanged, this, &LineagePage::reload);
}

QWidget* LineagePage::makeBar() {
  auto* bar = new QWidget(this);
  auto* row = new FlowLayout(bar);
  row->setContentsMargins(8, 4, 8, 4);
  m_title->setObjectName(u"lineageTitle"_s);
  m_title->setForegroundRole(QPalette::PlaceholderText);
  m_title->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);  // what is left of the row
  auto* ancestors = new QLabel(tr("Ancestors"), bar);
  ancestors->setBuddy(m_ancestors);
  auto* descendants = new QLabel(tr("Descendants"), bar);
  descendants->setBuddy(m_descendants);
  auto* centre = new QToolButton(bar);
  centre->setObjectName(u"centreLineage"_s);
  centre->setText(tr("Centre"));
  centre->setToolTip(tr("Draw the lineage of the selected candidate"));
  connect(centre, &QToolButton::clicked, this, &LineagePage::reload);
  row->addPair(ancestors, m_ancestors);
  row->addPair(descendants, m_descendants);
  row->addWidget(centre);
  fillShow();
  row->addWidget(m_show);
  row->addWidget(m_title);
  return bar;
}

void LineagePage::fillShow() {
  m_show->setObjectName(u"lineageFilter"_s);
  m_show->setAccessibleName(tr("Which relatives are drawn"));
  m_show->setToolTip(tr("Which relatives are drawn; the candidate itself always is"));
  m_show->addItems({tr("All"), tr("Correct"), tr("Failed"), tr("First: no parents"), tr("Best of their cells")});
  m_show->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  m_show->setMinimumContentsLength(6);
  connect(m_show, &QComboBox::currentIndexChanged, this, &LineagePage::reload);
}

bool LineagePage::isShown(const services::CandidateRow& row) const {
  switch (static_cast<Show>(m_show->currentIndex())) {
    case Show::All: return true;
    case Show::Correct: return row.status == domain::CandidateStatus::Correct;
    case Show::Failed: return domain::hasFailed(row.status);
    case Show::First: return row.parents.empty();
    case Show::Best:
      return std::any_of(m_session.cells().begin(), m_session.cells().end(),
                         [&row](const services::CellSummary& cell) { return cell.best == row.id; });
  }
  return true;
}

void LineagePage::setTheme(const Theme& theme) {
  const bool isOther = theme.heat != m_colors;
  m_colors = theme.heat;
  m_view->setTheme(theme);
  if (isOther) {
    reload();
  }
}

// The scale of the map, so that a colour means the same in both.
CellScale LineagePage::scale() const {
  return CellScale::fit(CellMetric::Speedup, m_session.cells(),
                        m_colors == ColorMap::Diverging ? CellScale::Centred::Yes : CellScale::Centred::No);
}

void LineagePage::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  showSelection();
}

void LineagePage::showSelection() {
  if (!isVisible()) {
    return;  // showEvent() catches up
  }
  const domain::CandidateId selected = m_session.selectedCandidate();
  if (selected.isValid() && m_view->layout().indexOf(selected) >= 0) {
    m_view->setCurrent(selected);
  } else if (selected != m_root || !selected.isValid()) {
    reload();
  }
}

void LineagePage::reload() {
  m_root = m_session.selectedCandidate();
  if (!m_root.isValid() || !isVisible()) {
    m_root = {};
    showLineage({});
    return;
  }
  const auto lineage =
      m_record.lineage(m_root, {.generationsUp = m_ancestors->value(), .generationsDown = m_descendants->value()});
  if (!lineage) {
    m_session.report(lineage.error());
    return;
  }
  showLineage(*lineage);
}

void LineagePage::showLineage(const services::Lineage& lineage) {
  std::vector<services::CandidateRow> rows;
  std::copy_if(lineage.rows.begin(), lineage.rows.end(), std::back_inserter(rows),
               [this](const services::CandidateRow& row) { return row.id == m_root || isShown(row); });
  m_view->setLineage(LineageLayout::of(rows), scale());
  m_view->setMarked(m_session.summary() ? m_session.summary()->best : domain::CandidateId());
  m_view->setCurrent(m_root);
  m_empty->setEmpty(lineage.rows.empty());
  const bool hasMore = lineage.hasMoreAncestors || lineage.hasMoreDescendants;
  const QString count = rows.size() == 1 ? tr("1 candidate")
                                         : tr("%1 candidates").arg(formatCount(static_cast<std::int64_t>(rows.size())));
  m_title->setFullText(lineage.rows.empty() ? QString() : hasMore ? tr("%1, and more").arg(count) : count);
}

}  // namespace swage::ui
