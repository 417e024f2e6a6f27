// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QStringList>

#include <vector>

#include "core/domain/assurance.h"
#include "core/domain/diagnosis.h"
#include "core/domain/evaluation.h"
#include "core/services/profile_service.h"

// How a profile reads. Pure functions.
namespace swage::ui {

[[nodiscard]] QString headline(const domain::Diagnosis& diagnosis);  // "Memory-bound"
// What the headline rests on: "Memory is 93 % busy, arithmetic 21 %".
[[nodiscard]] QString headlineReason(const domain::Diagnosis& diagnosis);

struct FindingText {
  QString what;
  QString gain;  // "up to 31 %"; empty: not estimated
  int line = 0;  // 0: it has none
};
[[nodiscard]] FindingText describeFinding(const domain::Finding& finding);

[[nodiscard]] QString unitName(domain::HardwareUnit unit);
// The profiler's word and what it means: "long scoreboard: waits for global or local memory".
[[nodiscard]] QString stallName(const std::string& reason);
[[nodiscard]] QString stallMeaning(const std::string& reason);
[[nodiscard]] QString boundName(domain::Bound bound);  // "memory"

[[nodiscard]] QString sourceName(domain::ProfileSource source);  // "hardware counters"
[[nodiscard]] QString stageName(services::ProfileProgress::Stage stage);
// How the device was: "1980 MHz (lowest 1965), memory 2619 MHz, 52 °C, 310 W"; empty when nothing is known.
[[nodiscard]] QString conditionsText(const domain::DeviceConditions& conditions);
// Why a time should be taken with care; empty: nothing speaks against it.
[[nodiscard]] QStringList noiseReasons(const domain::Timing& timing);

struct TrustText {
  QString name;    // "held-back seeds"
  QString detail;  // what failed, or why it could not be checked
  domain::AssuranceVerdict verdict = domain::AssuranceVerdict::Unavailable;
};
[[nodiscard]] TrustText describeAssurance(const domain::Assurance& assurance);

}  // namespace swage::ui
