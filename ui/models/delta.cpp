// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/delta.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

QString tr(const char* text) {
  return QCoreApplication::translate("deltas", text);
}

std::optional<double> relative(double value, double reference) {
  return reference > 0.0 ? std::optional(value / reference - 1.0) : std::nullopt;
}

QString percent(double value) {
  const double magnitude = std::abs(value);
  return QString::number(100.0 * magnitude, 'f', magnitude < 0.0995 ? 1 : 0) % u" %"_s;
}

}  // namespace

double TimeInterval::relativeHalfWidth() const {
  const bool hasInterval = isKnown() && lowNs > 0.0 && highNs >= lowNs;
  return hasInterval ? std::max({highNs - medianNs, medianNs - lowNs, 0.0}) / medianNs : 0.0;
}

Delta compareTimes(const TimeInterval& value, const TimeInterval& reference) {
  return compareIntervals(value, reference, Preference::Lower);
}

Delta compareIntervals(const TimeInterval& value, const TimeInterval& reference, Preference preference) {
  if (!value.isKnown() || !reference.isKnown()) {
    return {};
  }
  const auto low = [](const TimeInterval& one) { return one.lowNs > 0.0 ? one.lowNs : one.medianNs; };
  const auto high = [](const TimeInterval& one) { return one.highNs > 0.0 ? one.highNs : one.medianNs; };
  Delta delta{Verdict::Undecided, relative(value.medianNs, reference.medianNs)};
  if (high(value) < low(reference)) {
    delta.verdict = preference == Preference::Lower ? Verdict::Better : Verdict::Worse;
  } else if (low(value) > high(reference)) {
    delta.verdict = preference == Preference::Lower ? Verdict::Worse : Verdict::Better;
  }
  return delta;
}

Delta compareValues(double value, double reference, Preference preference) {
  Delta delta{Verdict::Same, relative(value, reference)};
  if (value != reference && preference != Preference::Neither) {
    delta.verdict = (value < reference) == (preference == Preference::Lower) ? Verdict::Better : Verdict::Worse;
  } else if (value != reference) {
    delta.verdict = Verdict::Unknown;
  }
  return delta;
}

QString formatDelta(const Delta& delta) {
  if (delta.verdict == Verdict::Same) {
    return u"±0"_s;
  }
  if (!delta.relative) {
    return {};
  }
  const QString text = (*delta.relative < 0.0 ? u"−"_s : u"+"_s) % percent(*delta.relative);
  return delta.verdict == Verdict::Undecided ? tr("%1, within the intervals").arg(text) : text;
}

QString formatPercent(double share) {
  const double magnitude = std::abs(share);
  return QString::number(100.0 * share, 'f', magnitude > 0.0 && magnitude < 0.00995 ? 1 : 0) % u" %"_s;
}

QString describe(Verdict verdict) {
  switch (verdict) {
    case Verdict::Unknown: return {};
    case Verdict::Better: return tr("better");
    case Verdict::Worse: return tr("worse");
    case Verdict::Same: return tr("same");
    case Verdict::Undecided: return tr("no winner inside the interval");
  }
  return {};
}

}  // namespace swage::ui
