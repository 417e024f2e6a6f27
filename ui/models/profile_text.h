// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QList>
#include <QString>
#include <QStringList>

#include <vector>

#include "core/domain/diagnosis.h"
#include "core/domain/evaluation.h"
#include "core/services/profile_service.h"
#include "core/services/types.h"

// How a profile reads. Pure functions.
namespace swage::ui {

[[nodiscard]] QString headline(const domain::Diagnosis& diagnosis);  // "Memory-bound"
// What the headline rests on: "Memory is 93 % busy, arithmetic 21 %".
[[nodiscard]] QString headlineReason(const domain::Diagnosis& diagnosis);

// What no program of the task can explain by itself, a sentence each; empty: nothing. That times disagree, or that more
// than 100 % of something is reached.
[[nodiscard]] QStringList profileRemarks(const services::ProfileReport& report);
// Why there is nothing to profile; empty: there is.
[[nodiscard]] QString whyNoProfile(const services::CandidateDetail& detail);

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
// "18 samples (stopped by time limit)"
[[nodiscard]] QString stopText(const domain::Timing& timing);
// Why a time should be taken with care; empty: nothing speaks against it.
[[nodiscard]] QStringList noiseReasons(const domain::Timing& timing);

// What a CPU did in a kernel, each with its number; only what was counted.
struct ProcessorFact {
  QString name;
  QString value;
  QString meaning;  // a sentence for whoever asks
};
[[nodiscard]] QList<ProcessorFact> processorFacts(const domain::ProcessorUse& use);

}  // namespace swage::ui
