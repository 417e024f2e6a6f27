// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/export/kernelbench.h"
#include "core/export/report.h"
#include "core/export/report_charts.h"

namespace swage::exporting {
namespace {

constexpr double kWidth = 960.0;
constexpr double kLeft = 330.0;
constexpr double kRight = 24.0;
constexpr double kTop = 40.0;
constexpr double kBottom = 28.0;
constexpr double kRowHeight = 16.0;
constexpr double kBar = 10.0;
constexpr std::size_t kMostLetters = 44;  // of a name, that fit left of the bars in wide fonts, too

// Colours that tell apart without red and green (Okabe and Ito), for a light and a dark page.
constexpr std::string_view kStyle = R"(<style>
text { font: 11px sans-serif; fill: #222; }
.grid { stroke: #ddd; } .one { stroke: #222; stroke-width: 1.5; } .span { stroke: #222; }
.gain { fill: #0072b2; } .loss { fill: #d55e00; } .aside { fill-opacity: 0.45; } .none { fill: #777; }
@media (prefers-color-scheme: dark) {
  svg { background: #1e1e1e; } text { fill: #ddd; } .grid { stroke: #444; } .one, .span { stroke: #ddd; }
  .none { fill: #aaa; }
}
</style>
)";

struct LogScale {
  double least = 1.0;
  double most = 2.0;
  [[nodiscard]] double at(double value) const {
    const double share = std::log(std::clamp(value, least, most) / least) / std::log(most / least);
    return kLeft + share * (kWidth - kRight - kLeft);
  }
};

// From a power of two to a power of two, so that every bar fits.
LogScale scaleFor(const std::vector<KernelBenchRow>& rows) {
  double least = 0.5;
  double most = 2.0;
  for (const KernelBenchRow& row : rows) {
    if (row.kernel && row.kernel->speedup.isKnown()) {
      least = std::min(least, row.kernel->speedup.value);
      most = std::max(most, row.kernel->speedup.value);
    }
  }
  return {std::exp2(std::floor(std::log2(least))), std::exp2(std::ceil(std::log2(most)))};
}

std::string grid(const LogScale& scale, double bottom) {
  std::string text;
  for (double value = scale.least; value <= scale.most * 1.001; value *= 2.0) {
    const double x = scale.at(value);
    text += fmt::format("<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>",
                        std::abs(value - 1.0) < 1e-9 ? "one" : "grid", x, kTop - 4.0, x, bottom);
    text +=
        fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{:g}×</text>\n", x, bottom + 16.0, value);
  }
  return text;
}

std::string rowPicture(const KernelBenchRow& row, const LogScale& scale, double top) {
  const double middle = top + kRowHeight / 2.0;
  std::string name = row.name.size() > kMostLetters ? row.name.substr(0, kMostLetters - 1) + "…" : row.name;
  std::string text = fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}/{}</text>", kLeft - 8.0,
                                 middle + 4.0, row.level, htmlEscaped(name));
  if (!row.kernel || !row.kernel->speedup.isKnown()) {
    return text + fmt::format("<text class=\"none\" x=\"{:.1f}\" y=\"{:.1f}\">no kernel</text>\n", scale.at(1.0) + 6.0,
                              middle + 4.0);
  }
  const domain::Speedup& speedup = row.kernel->speedup;
  const double one = scale.at(1.0);
  const double end = scale.at(speedup.value);
  const bool isAside = row.isDegenerate || row.kernel->isAlgebraic || !row.kernel->hasKernels();
  text += fmt::format(
      "<rect class=\"{}{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.0f}\"><title>{}/{}: {} over {}{}"
      "</title></rect>",
      speedup.value >= 1.0 ? "gain" : "loss", isAside ? " aside" : "", std::min(one, end), middle - kBar / 2.0,
      std::max(1.0, std::abs(end - one)), kBar, row.level, row.problem, speedupText(speedup), row.baselineMode,
      isAside ? ", degenerate, algebraic or no kernel" : "");
  if (speedup.hasInterval()) {
    text += fmt::format("<line class=\"span\" x1=\"{0:.1f}\" y1=\"{2:.1f}\" x2=\"{1:.1f}\" y2=\"{2:.1f}\"/>",
                        scale.at(speedup.low), scale.at(speedup.high), middle);
  }
  return text + '\n';
}

}  // namespace

std::string kernelBenchChart(const KernelBenchDocument& document) {
  const LogScale scale = scaleFor(document.rows);
  const double bottom = kTop + kRowHeight * static_cast<double>(document.rows.size());
  const KernelBenchSummary all = summarise({}, document.rows);
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" "
      "aria-label=\"Speedup of the best kernel of each KernelBench task\">\n",
      kWidth, bottom + kBottom);
  text += kStyle;
  text += fmt::format(
      "<text x=\"{:.1f}\" y=\"20\">KernelBench on {}: geometric mean {:.2f}× over the fastest of PyTorch's ways, {} of "
      "{} tasks with a kernel; pale: degenerate, algebraic or no kernel</text>\n",
      8.0, htmlEscaped(document.device), all.geometricMean, all.kernels, all.tasks);
  text += grid(scale, bottom);
  double top = kTop;
  for (const KernelBenchRow& row : document.rows) {
    text += rowPicture(row, scale, top);
    top += kRowHeight;
  }
  return text + "</svg>\n";
}

}  // namespace swage::exporting
