// SPDX-License-Identifier: Apache-2.0
#include "core/export/report_charts.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "core/export/provenance.h"

namespace swage::exporting {
namespace {

constexpr double kWidth = 760.0;
constexpr double kHeight = 240.0;
constexpr double kLeft = 48.0;
constexpr double kRight = 16.0;
constexpr double kTop = 12.0;
constexpr double kBottom = 36.0;

// The next of 1, 2, 2.5, 5 times a power of ten that leaves at most `most` steps.
double niceStep(double span, int most) {
  const double raw = span / most;
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 2.5, 5.0, 10.0}) {
    if (factor * power >= raw) {
      return factor * power;
    }
  }
  return 10.0 * power;
}

struct Scale {
  double from = 0.0;
  double to = 1.0;
  double start = 0.0;  // in the picture
  double end = 1.0;
  [[nodiscard]] double at(double value) const {
    return to > from ? start + (value - from) / (to - from) * (end - start) : start;
  }
};

std::string numberText(double value) {
  return std::abs(value) >= 100.0 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
}

std::string axes(const Scale& x, const Scale& y) {
  std::string text;
  const double stepY = niceStep(y.to - y.from, 5);
  for (double value = std::ceil(y.from / stepY) * stepY; value <= y.to + 1e-9; value += stepY) {
    const double at = y.at(value);
    text += fmt::format("<line class=\"grid\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>", x.start, at,
                        x.end, at);
    text += fmt::format("<text class=\"tick\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}×</text>", x.start - 6,
                        at + 4, numberText(value));
  }
  const double stepX = niceStep(x.to - x.from, 8);
  for (double value = 0.0; value <= x.to + 1e-9; value += stepX) {
    text += fmt::format("<text class=\"tick\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>", x.at(value),
                        y.start + 16, numberText(value));
  }
  text += fmt::format("<text class=\"tick\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">seconds of search</text>",
                      0.5 * (x.start + x.end), y.start + 32);
  return text + fmt::format("<line class=\"axis\" x1=\"{0:.1f}\" y1=\"{2:.1f}\" x2=\"{1:.1f}\" y2=\"{2:.1f}\"/>\n",
                            x.start, x.end, y.start);
}

struct Color {
  int red = 0;
  int green = 0;
  int blue = 0;
};

// Viridis, which reads without telling red from green and keeps its order in grey.
Color viridis(double share) {
  static constexpr std::array<Color, 6> kStops{
      {{68, 1, 84}, {65, 68, 135}, {42, 120, 142}, {34, 168, 132}, {122, 209, 81}, {253, 231, 37}}};
  const double at = std::clamp(share, 0.0, 1.0) * (kStops.size() - 1);
  const auto low = std::min(static_cast<std::size_t>(at), kStops.size() - 2);
  const double part = at - static_cast<double>(low);
  const auto mixed = [part](int a, int b) { return static_cast<int>(std::lround(a + part * (b - a))); };
  const Color& a = kStops[low];
  const Color& b = kStops[low + 1];
  return {mixed(a.red, b.red), mixed(a.green, b.green), mixed(a.blue, b.blue)};
}

// Black or white, whichever stands out more (WCAG's contrast).
const char* textOn(const Color& color) {
  const auto linear = [](int value) {
    const double c = value / 255.0;
    return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
  };
  const double luminance = 0.2126 * linear(color.red) + 0.7152 * linear(color.green) + 0.0722 * linear(color.blue);
  return luminance > 0.179 ? "#000" : "#fff";
}

std::string cellHtml(const ReportCell& cell, double least, double most) {
  const std::string name = cell.cell.name();
  switch (cell.state) {
    case ReportCell::State::Unavailable:
      return fmt::format("<td class=\"unavailable\" title=\"{}: not possible on this device\">–</td>", name);
    case ReportCell::State::Empty: return fmt::format("<td class=\"empty\" title=\"{}: not tried\"></td>", name);
    case ReportCell::State::FailedOnly:
      return fmt::format("<td class=\"failed\" title=\"{}: {} tried, none correct\">✕</td>", name, cell.tried);
    case ReportCell::State::Filled: break;
  }
  const double span = std::log(most) - std::log(least);
  const double share =
      cell.speedup.isKnown() && span > 0.0 ? (std::log(cell.speedup.value) - std::log(least)) / span : 1.0;
  const Color color = viridis(share);
  return fmt::format(
      "<td class=\"filled\" style=\"background:rgb({},{},{});color:{}\" title=\"{}: candidate {}, {}, {}\">"
      "<b>{}</b><small>{}</small></td>",
      color.red, color.green, color.blue, textOn(color), name, cell.best.value(), reportTime(cell.timeNs),
      speedupText(cell.speedup), cell.speedup.isKnown() ? fmt::format("{:.2f}×", cell.speedup.value) : std::string("–"),
      reportTime(cell.timeNs));
}

}  // namespace

std::string htmlEscaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      default: result += c;
    }
  }
  return result;
}

std::string progressChart(const RunReport& report) {
  std::vector<ReportPoint> points = report.history;
  std::erase_if(points, [](const ReportPoint& point) { return !point.speedup.isKnown(); });
  if (points.empty()) {
    return {};
  }
  double most = 1.0;
  for (const ReportPoint& point : points) {
    most = std::max({most, point.speedup.value, point.speedup.isUncertain() ? 0.0 : point.speedup.high});
  }
  const double seconds = std::max({report.elapsedSeconds, points.back().seconds, 1.0});
  const Scale x{0.0, seconds, kLeft, kWidth - kRight};
  const Scale y{0.0, 1.1 * most, kHeight - kBottom, kTop};
  std::string path;
  std::string dots;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double px = x.at(points[i].seconds);
    const double py = y.at(points[i].speedup.value);
    path += i == 0 ? fmt::format("M{:.1f} {:.1f}", px, py) : fmt::format("H{:.1f}V{:.1f}", px, py);
    dots += fmt::format(
        "<circle class=\"dot\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\"><title>candidate {} after {:.0f} s: {}"
        "</title></circle>",
        px, py, points[i].candidate.value(), points[i].seconds, speedupText(points[i].speedup));
  }
  path += fmt::format("H{:.1f}", x.at(seconds));
  const double one = y.at(1.0);
  return fmt::format(
      "<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"Best speedup so far against search time\">\n{}"
      "<line class=\"baseline\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>"
      "<text class=\"tick\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n"
      "<path class=\"line\" d=\"{}\"/>\n{}\n</svg>\n",
      kWidth, kHeight, axes(x, y), x.start, one, x.end, one, x.end, one - 5,
      htmlEscaped(report.baselineMode.empty() ? "baseline" : "PyTorch, " + report.baselineMode), path, dots);
}

std::string cellMap(const RunReport& report) {
  if (report.cells.size() != static_cast<std::size_t>(domain::kCellCount)) {
    return {};
  }
  double least = 1.0;
  double most = 1.0;
  for (const ReportCell& cell : report.cells) {
    if (cell.state == ReportCell::State::Filled && cell.speedup.isKnown()) {
      least = std::min(least, cell.speedup.value);
      most = std::max(most, cell.speedup.value);
    }
  }
  std::string text = "<table class=\"map\">\n<thead><tr><th rowspan=\"2\" scope=\"col\">data movement</th>";
  for (int b = 0; b < 3; ++b) {
    text += fmt::format("<th colspan=\"3\" scope=\"colgroup\">{}</th>",
                        domain::describe(static_cast<domain::Arithmetic>(b)));
  }
  text += "</tr>\n<tr>";
  for (int column = 0; column < 9; ++column) {
    text += fmt::format("<th scope=\"col\">{}</th>", domain::describe(static_cast<domain::Decomposition>(column % 3)));
  }
  text += "</tr></thead>\n<tbody>\n";
  for (int row = 0; row < 4; ++row) {
    text += fmt::format("<tr><th scope=\"row\">{}</th>", domain::describe(static_cast<domain::DataMovement>(row)));
    for (int column = 0; column < 9; ++column) {
      text += cellHtml(report.cells[static_cast<std::size_t>(row * 9 + column)], least, most);
    }
    text += "</tr>\n";
  }
  return text +
         "</tbody></table>\n<p class=\"note\">Colour and upper number: speedup of the best candidate of a cell, below "
         "it "
         "its time. ✕ tried, none correct; empty: not tried; – not possible on this device.</p>\n";
}

std::string intervalBar(const domain::Speedup& speedup, double least, double most) {
  constexpr double kBar = 120.0;
  const Scale x{least, most, 4.0, kBar - 4.0};
  if (!speedup.isKnown()) {
    return {};
  }
  const double low = speedup.hasInterval() ? speedup.low : speedup.value;
  const double high = speedup.hasInterval() ? speedup.high : speedup.value;
  return fmt::format(
      "<svg class=\"bar\" viewBox=\"0 0 {0:.0f} 14\" aria-hidden=\"true\">"
      "<line class=\"baseline\" x1=\"{1:.1f}\" y1=\"0\" x2=\"{1:.1f}\" y2=\"14\"/>"
      "<line class=\"span\" x1=\"{2:.1f}\" y1=\"7\" x2=\"{3:.1f}\" y2=\"7\"/>"
      "<circle class=\"dot\" cx=\"{4:.1f}\" cy=\"7\" r=\"3\"/></svg>",
      kBar, x.at(1.0), x.at(std::max(low, least)), x.at(std::min(high, most)), x.at(speedup.value));
}

std::string failureBars(const RunReport& report) {
  if (report.failures.empty()) {
    return "<p>None.</p>\n";
  }
  std::int64_t most = 1;
  for (const auto& [reason, count] : report.failures) {
    most = std::max(most, count);
  }
  std::string text = "<table class=\"bars\"><tbody>\n";
  for (const auto& [reason, count] : report.failures) {
    text += fmt::format(
        "<tr><th scope=\"row\">{}</th><td class=\"n\">{}</td><td class=\"wide\"><span style=\"width:{:.1f}%\"></span>"
        "</td></tr>\n",
        htmlEscaped(reason), count, 100.0 * static_cast<double>(count) / static_cast<double>(most));
  }
  return text + "</tbody></table>\n";
}

}  // namespace swage::exporting
