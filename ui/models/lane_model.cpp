// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/lane_model.h"

#include <algorithm>
#include <array>
#include <optional>

#include "ui/models/format.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

using services::LaneStatus;

constexpr Qt::Alignment kRight = Qt::AlignRight | Qt::AlignVCenter;
constexpr std::array<ColumnInfo, 7> kColumns = {{
    {QT_TRANSLATE_NOOP("columns", "Lane"), QT_TRANSLATE_NOOP("columns", "The worker of a device, or a compiler")},
    {QT_TRANSLATE_NOOP("columns", "Now"), QT_TRANSLATE_NOOP("columns", "What it is doing, and for which candidate")},
    {QT_TRANSLATE_NOOP("columns", "For"), QT_TRANSLATE_NOOP("columns", "How long it has been doing that"), kRight},
    {QT_TRANSLATE_NOOP("columns", "Busy"), QT_TRANSLATE_NOOP("columns", "Share of its time spent on candidates")},
    {QT_TRANSLATE_NOOP("columns", "Done"), QT_TRANSLATE_NOOP("columns", "Candidates it has finished with"), kRight},
    {QT_TRANSLATE_NOOP("columns", "Replaced"),
     QT_TRANSLATE_NOOP("columns", "How often its process ended and another took its place"), kRight},
    {QT_TRANSLATE_NOOP("columns", "Last end"), QT_TRANSLATE_NOOP("columns", "Why it was replaced last, or is lost")},
}};

QString none() {
  return u"–"_s;
}

QString doingText(const LaneStatus& lane) {
  const QString doing = toQString(lane.doing);
  return lane.candidate.isValid() ? QString(doing % u" #"_s % QString::number(lane.candidate.value())) : doing;
}

// Clocks of different threads may disagree a little. Nobody is busy for more than all of the time.
std::optional<double> busyShare(const LaneStatus& lane) {
  return lane.busyShare() >= 0.0 ? std::optional(std::min(1.0, lane.busyShare())) : std::nullopt;
}

// "12 s" reads faster than "0:12" in a column that changes every second.
QString sinceText(double seconds) {
  return seconds < 60.0 ? QCoreApplication::translate("agents", "%1 s").arg(static_cast<int>(seconds))
                        : formatDuration(seconds);
}

}  // namespace

std::span<const ColumnInfo> LaneModel::columns() const {
  return kColumns;
}

QString LaneModel::text(const LaneStatus& lane, LaneColumn column) {
  switch (column) {
    case LaneColumn::Name: return toQString(lane.name);
    case LaneColumn::Doing: return doingText(lane);
    case LaneColumn::Since: return lane.sinceSeconds > 0.0 ? sinceText(lane.sinceSeconds) : none();
    case LaneColumn::Busy: return busyShare(lane) ? formatShare(*busyShare(lane)) : none();
    case LaneColumn::Done: return formatCount(lane.done);
    case LaneColumn::Replaced: return lane.replaced > 0 ? formatCount(lane.replaced) : none();
    case LaneColumn::LastEnd: return toQString(lane.lastEnd).section(u'\n', 0, 0);
  }
  return {};
}

QVariant LaneModel::cell(int row, LaneColumn column, int role) const {
  const LaneStatus& lane = item(row);
  switch (role) {
    case Qt::DisplayRole: return text(lane, column);
    case Qt::ToolTipRole:
      return column == LaneColumn::LastEnd && !lane.lastEnd.empty() ? toQString(lane.lastEnd) : QVariant();
    case BusyShareRole: return column == LaneColumn::Busy && busyShare(lane) ? QVariant(*busyShare(lane)) : QVariant();
    case LostRole: return lane.isLost;
    default: return {};
  }
}

}  // namespace swage::ui
