// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/format.h"

#include <QLocale>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/duration.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

const QLocale& numbers() {
  static const QLocale locale(QLocale::English, QLocale::UnitedStates);
  return locale;
}

QString none() {
  return u"–"_s;
}

// " ± 3.2 %"
QString margin(double value, double low, double high) {
  const double percent = 100.0 * std::max({high - value, value - low, 0.0}) / value;
  return u" ± "_s % numbers().toString(percent, 'f', percent < 9.95 ? 1 : 0) % u" %"_s;
}

QString threeDigits(double value) {
  const double magnitude = value > 0 ? std::floor(std::log10(value)) : 0.0;
  return numbers().toString(value, 'f', static_cast<int>(std::clamp(2.0 - magnitude, 0.0, 2.0)));
}

}  // namespace

QString toQString(std::string_view text) {
  return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

std::string asSentence(std::string text) {
  const std::size_t end = std::min(text.find_first_not_of("abcdefghijklmnopqrstuvwxyz"), text.size());
  if (end > 0 && (end == text.size() || text[end] == ' ' || text[end] == ',' || text[end] == ':')) {
    text[0] = static_cast<char>(text[0] - 'a' + 'A');
  }
  return text;
}

QString formatTime(double nanoseconds) {
  struct Unit {
    double size = 0.0;
    QLatin1StringView name;
  };
  if (!(nanoseconds > 0.0)) {
    return none();
  }
  if (nanoseconds < 999.5) {
    return numbers().toString(nanoseconds, 'f', 0) % u" ns"_s;
  }
  if (nanoseconds < 999.5e3) {
    return threeDigits(nanoseconds / 1e3) % u" µs"_s;
  }
  if (nanoseconds < 999.5e6) {
    return threeDigits(nanoseconds / 1e6) % u" ms"_s;
  }
  return threeDigits(nanoseconds / 1e9) % u" s"_s;
}

QString formatInterval(double medianNs, double lowNs, double highNs) {
  if (!(medianNs > 0.0) || highNs < lowNs || !(highNs > 0.0)) {
    return formatTime(medianNs);
  }
  return formatTime(medianNs) % margin(medianNs, lowNs, highNs);
}

QString formatSpeedup(double speedup) {
  if (!(speedup > 0.0)) {
    return none();
  }
  return threeDigits(speedup) % u"×"_s;
}

QString formatSpeedup(const domain::Speedup& speedup) {
  return (speedup.isUncertain() ? u"≈"_s : QString()) % formatSpeedup(speedup.value);
}

QString formatSpeedupInterval(const domain::Speedup& speedup) {
  return speedup.hasInterval()
             ? u"%1 (%2 to %3)"_s.arg(formatSpeedup(speedup), threeDigits(speedup.low), threeDigits(speedup.high))
             : formatSpeedup(speedup);
}

QString formatSpeedupMargin(const domain::Speedup& speedup) {
  return speedup.hasInterval() ? formatSpeedup(speedup) % margin(speedup.value, speedup.low, speedup.high)
                               : formatSpeedup(speedup);
}

QString formatCount(std::int64_t count) {
  return numbers().toString(static_cast<qlonglong>(count));
}

QString formatDuration(double seconds) {
  const auto whole = static_cast<qint64>(std::max(0.0, seconds));
  const auto two = [](qint64 value) { return u"%1"_s.arg(value, 2, 10, QChar(u'0')); };
  if (whole >= 3600) {
    return QString::number(whole / 3600) % u":"_s % two(whole / 60 % 60) % u":"_s % two(whole % 60);
  }
  return QString::number(whole / 60) % u":"_s % two(whole % 60);
}

QString formatError(double relativeError) {
  return relativeError == 0.0 ? u"0"_s : QString::number(relativeError, 'e', 1);
}

QString formatRate(double perSecond) {
  return numbers().toString(std::max(0.0, perSecond), 'f', perSecond < 99.95 ? 1 : 0) % u"/s"_s;
}

QString formatShare(double share) {
  return numbers().toString(100.0 * share, 'f', share < 0.0995 ? 1 : 0) % u" %"_s;
}

std::optional<double> parseDuration(const QString& text) {
  const Result<double> seconds = swage::parseDuration(text.toLower().toStdString());
  return seconds ? std::optional(*seconds) : std::nullopt;
}

QString editableDuration(double seconds) {
  const auto isWhole = [seconds](double unit) { return seconds >= unit && std::fmod(seconds, unit) == 0.0; };
  if (isWhole(3600.0)) {
    return QString::number(seconds / 3600.0) % u" h"_s;
  }
  if (seconds > 90.0 && isWhole(60.0)) {
    return QString::number(seconds / 60.0) % u" min"_s;
  }
  return QString::number(seconds) % u" s"_s;
}

}  // namespace swage::ui
