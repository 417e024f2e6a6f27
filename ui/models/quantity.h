// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

// Quantities of the profiler with decimal prefixes and three digits. Like ui/models/format.h, they do not follow the
// user's locale.
namespace swage::ui {

[[nodiscard]] QString formatBytes(double bytes);              // "16.8 MB"
[[nodiscard]] QString formatByteRate(double bytesPerSecond);  // "3.35 TB/s"
[[nodiscard]] QString formatFlopRate(double flopsPerSecond);  // "67.1 TFLOP/s"
[[nodiscard]] QString formatFlopCount(double flops);          // "100 GF", for the ticks of an axis

}  // namespace swage::ui
