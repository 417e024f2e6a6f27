// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/archive_view.h"

#include <algorithm>

namespace swage::ui {
namespace {

// What the engine's events do not carry.
bool needsRecord(CellMetric metric) {
  return metric == CellMetric::RoofShare || metric == CellMetric::Registers || metric == CellMetric::Error ||
         metric == CellMetric::Found;
}

}  // namespace

ArchiveView::ArchiveView(ProjectSession& session, const services::RecordService& record, QObject* parent)
    : QObject(parent), m_session(session), m_record(record), m_cells(session.cells()) {
  connect(&session, &ProjectSession::cellsChanged, this, &ArchiveView::refresh);
  connect(&session, &ProjectSession::runShown, this, &ArchiveView::handleRun);
}

void ArchiveView::setMetric(CellMetric metric) {
  if (metric != m_metric) {
    m_metric = metric;
    refresh();
  }
}

void ArchiveView::setIsland(std::optional<int> island) {
  if (island != m_island) {
    m_island = island;
    refresh();
  }
}

void ArchiveView::setMoment(std::optional<double> seconds) {
  if (seconds != m_moment) {
    m_moment = seconds;
    refresh();
  }
}

const services::CellSummary* ArchiveView::cell(int index) const {
  const auto found =
      std::find_if(m_cells.begin(), m_cells.end(), [index](const auto& cell) { return cell.cell.index() == index; });
  return found != m_cells.end() ? &*found : nullptr;
}

double ArchiveView::runSeconds() const {
  return m_session.progress().elapsedSeconds;
}

void ArchiveView::handleRun() {
  m_island.reset();
  m_moment.reset();
  m_islands = 0;
  refresh();
  Q_EMIT islandsChanged();
}

void ArchiveView::refresh() {
  const domain::RunId run = m_session.shownRun();
  if (run.isValid()) {
    const Result<int> islands = m_record.islandCount(run);
    if (islands && *islands != m_islands) {
      m_islands = *islands;
      Q_EMIT islandsChanged();
    }
  }
  if (auto cells = read()) {
    m_cells = std::move(*cells);
  } else {
    m_session.report(cells.error());
  }
  Q_EMIT changed();
}

Result<std::vector<services::CellSummary>> ArchiveView::read() const {
  const domain::RunId run = m_session.shownRun();
  if (!run.isValid() || (isWhole() && !needsRecord(m_metric))) {
    return m_session.cells();
  }
  return m_moment ? m_record.cellsAt(run, m_island, *m_moment) : m_record.cells(run, m_island);
}

}  // namespace swage::ui
