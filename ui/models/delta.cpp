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

double DeltaInterval::relativeHalfWidth() const {
  const bool hasInterval = isKnown() && low > 0.0 && high >= low;
  return hasInterval ? std::max({high - median, median - low, 0.0}) / median : 0.0;
}

Delta compareTimes(const DeltaInterval& value, const DeltaInterval& reference) {
  return compareIntervals(value, reference, Preference::Lower);
}

Delta compareIntervals(const DeltaInterval& value, const DeltaInterval& reference, Preference preference) {
  if (!value.isKnown() || !reference.isKnown()) {
    return {};
  }
  const auto lowest = [](const DeltaInterval& one) { return one.low > 0.0 ? one.low : one.median; };
  const auto highest = [](const DeltaInterval& one) { return one.high > 0.0 ? one.high : one.median; };
  Delta delta{Verdict::Undecided, relative(value.median, reference.median)};
  if (highest(value) < lowest(reference)) {
    delta.verdict = preference == Preference::Lower ? Verdict::Better : Verdict::Worse;
  } else if (lowest(value) > highest(reference)) {
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
    case Verdict::Undecided: return tr("no significant difference");
  }
  return {};
}

}  // namespace swage::ui
