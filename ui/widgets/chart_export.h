// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QSize>
#include <QString>
#include <QStringList>

#include <cstdint>
#include <filesystem>
#include <vector>

#include "core/base/result.h"

class QPainter;
class QRectF;

namespace swage::ui {

enum class ChartFormat : std::uint8_t { Svg, Png, Csv };
[[nodiscard]] QString suffixOf(ChartFormat format);  // "svg"

// The numbers that a chart draws, in the C locale.
struct ChartTable {
  QStringList columns;
  std::vector<QStringList> rows;
};

// A chart that can be taken away. Whatever draws one implements this, usually by being a ChartWidget.
class ChartSource {
 public:
  virtual ~ChartSource() = default;
  [[nodiscard]] virtual QString chartTitle() const = 0;
  // The whole chart with its background, into `target`.
  virtual void drawChart(QPainter& painter, const QRectF& target) const = 0;
  [[nodiscard]] virtual ChartTable chartTable() const = 0;
};

// Comma-separated as in RFC 4180, with a line of headings.
[[nodiscard]] QString toCsv(const ChartTable& table);
// A number as CSV has it: all its digits, a point, whatever the user's locale is.
[[nodiscard]] QString csvNumber(double value);

// Writes the whole file or none. `size` in points of the screen; PNG has twice as many pixels.
[[nodiscard]] Result<> exportChart(const ChartSource& chart, const std::filesystem::path& file, ChartFormat format,
                                   QSize size);

}  // namespace swage::ui
