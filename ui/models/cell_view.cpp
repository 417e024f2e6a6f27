// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/cell_view.h"

#include <QCoreApplication>
#include <QStringList>

#include <algorithm>

#include "ui/models/format.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

using State = services::CellSummary::State;

QString tr(const char* text) {
  return QCoreApplication::translate("cells", text);
}

QString spokenState(const services::CellSummary& cell) {
  switch (cell.state) {
    case State::Unavailable: return tr("not reachable on this device");
    case State::Empty: return tr("empty");
    case State::FailedOnly: return tr("%1 tried, none correct").arg(formatCount(cell.tried));
    case State::Filled: break;
  }
  const QString value = cell.speedup.isKnown() ? formatSpeedup(cell.speedup) : formatTime(cell.bestTimeNs);
  return tr("best %1, %2 of %3 tried are correct").arg(value, formatCount(cell.correct), formatCount(cell.tried));
}

void fillValue(CellView& view, const services::CellSummary& cell, const CellScale& scale) {
  const std::optional<double> value = valueOf(scale.metric(), cell);
  const bool lacksBaseline = !value && scale.metric() == CellMetric::Speedup;
  const bool isSpeedup = value && scale.metric() == CellMetric::Speedup;  // with a mark where it is uncertain
  view.value = isSpeedup       ? formatSpeedup(cell.speedup)
               : value         ? formatValue(scale.metric(), *value)
               : lacksBaseline ? formatTime(cell.bestTimeNs)
                               : u"–"_s;
  view.hasLevel = value.has_value();
  view.level = value ? scale.level(*value) : 0.0;
  if (value && scale.metric() != CellMetric::Speedup) {
    view.spoken += u", "_s % title(scale.metric()) % u" "_s % view.value;
  }
}

CellView viewCell(const services::CellSummary& cell, const CellScale& scale) {
  CellView view;
  view.state = cell.state;
  view.best = cell.isOverallBest && cell.state == State::Filled;
  view.spoken = describeCell(cell.cell) % u": "_s % spokenState(cell);
  if (view.best) {
    view.spoken += u", "_s % tr("best of all cells");
  }
  if (cell.state == State::Filled) {
    fillValue(view, cell, scale);
  }
  if (cell.state != State::Unavailable && cell.tried > 0) {
    view.shortCount = formatCount(cell.tried);
    view.count = tr("%1 tried").arg(view.shortCount);
  }
  return view;
}

void appendEvidence(QStringList& lines, const services::CandidateDetail& best) {
  constexpr std::size_t kMaxLines = 8;
  std::size_t shown = 0;
  for (const domain::KernelFacts& kernel : best.kernels) {
    QStringList counts;
    for (const auto& [instruction, count] : kernel.evidence) {
      if (++shown > kMaxLines) {
        break;
      }
      counts.push_back(toQString(instruction).toHtmlEscaped() % u" × "_s % formatCount(count));
    }
    if (!counts.isEmpty()) {
      lines.push_back(u"<code>"_s % toQString(kernel.entry).toHtmlEscaped() % u"</code>: "_s % counts.join(u", "_s));
    }
  }
  if (shown > kMaxLines) {
    lines.push_back(tr("… more in the Evaluation tab"));
  }
}

}  // namespace

domain::Cell cellAt(int row, int column) {
  return {static_cast<domain::DataMovement>(kMapRows - 1 - row), static_cast<domain::Arithmetic>(column % kMapBlocks),
          static_cast<domain::Decomposition>(column / kMapBlocks)};
}

int mapRow(const domain::Cell& cell) {
  return kMapRows - 1 - static_cast<int>(cell.movement);
}

int mapColumn(const domain::Cell& cell) {
  return static_cast<int>(cell.decomposition) * kMapBlocks + static_cast<int>(cell.arithmetic);
}

CellViews viewCells(const std::vector<services::CellSummary>& cells, const CellScale& scale) {
  CellViews views;
  for (const services::CellSummary& cell : emptyCells()) {
    views[static_cast<std::size_t>(cell.cell.index())] = viewCell(cell, scale);
  }
  for (const services::CellSummary& cell : cells) {
    views[static_cast<std::size_t>(cell.cell.index())] = viewCell(cell, scale);
  }
  return views;
}

std::vector<services::CellSummary> emptyCells() {
  std::vector<services::CellSummary> cells(domain::kCellCount);
  for (int i = 0; i < domain::kCellCount; ++i) {
    cells[static_cast<std::size_t>(i)].cell = domain::Cell::fromIndex(i);
  }
  return cells;
}

QString describeCell(const domain::Cell& cell) {
  return toQString(cell.name()) % u": "_s % toQString(domain::describe(cell.movement)) % u", "_s %
         toQString(domain::describe(cell.arithmetic)) % u", "_s % toQString(domain::describe(cell.decomposition));
}

QString cellTooltip(const services::CellSummary& cell, const services::CandidateDetail* best) {
  QStringList lines;
  lines.push_back(u"<b>"_s % describeCell(cell.cell) % u"</b>"_s);
  lines.push_back(spokenState(cell));
  if (cell.state == State::Filled) {
    lines.push_back(tr("Candidate %1, %2").arg(QString::number(cell.best.value()), formatTime(cell.bestTimeNs)));
    if (cell.speedup.isKnown()) {
      lines.push_back(tr("%1 over the fastest baseline").arg(formatSpeedupInterval(cell.speedup)));
    }
  }
  if (cell.state == State::Filled && best != nullptr) {
    appendEvidence(lines, *best);
  }
  return u"<p style='white-space:pre-wrap'>"_s % lines.join(u"<br>"_s) % u"</p>"_s;
}

}  // namespace swage::ui
