// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/export_text.h"

#include <QCoreApplication>
#include <QRegularExpression>
#include <QStringList>

#include "ui/models/format.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

using services::ExportGate;
using Kind = ExportGate::Kind;
using State = ExportGate::State;

QString tr(const char* text) {
  return QCoreApplication::translate("export", text);
}

QString stateWord(State state) {
  switch (state) {
    case State::Passed: return tr("passed");
    case State::Failed: return tr("failed");
    case State::NotRun: return tr("not run");
    case State::NotApplicable: return tr("does not apply");
    case State::Running: return tr("running…");
  }
  return {};
}

QString gateName(Kind kind) {
  switch (kind) {
    case Kind::Verified: return tr("Verified against float64");
    case Kind::HardInputs: return tr("Hard inputs");
    case Kind::HeldBackSeeds: return tr("Unseen seeds");
    case Kind::Sanitizer: return tr("compute-sanitizer");
    case Kind::FreshProcess: return tr("Fresh process");
    case Kind::Faster: return tr("Significantly faster");
    case Kind::HeldOutShapes: return tr("Other shapes");
  }
  return {};
}

QString countText(const ExportGate& gate) {
  if (gate.checks == 0) {
    return {};
  }
  const bool one = gate.checks == 1;
  const QString count = formatCount(gate.checks);
  switch (gate.kind) {
    case Kind::Verified:
    case Kind::HeldBackSeeds: return one ? tr("1 seed") : tr("%1 seeds").arg(count);
    case Kind::Sanitizer: return one ? tr("1 of 3 tools") : tr("%1 of 3 tools").arg(count);
    case Kind::Faster: return one ? tr("1 sample") : tr("%1 samples").arg(count);
    case Kind::HardInputs:
    case Kind::FreshProcess:
    case Kind::HeldOutShapes: return one ? tr("1 check") : tr("%1 checks").arg(count);
  }
  return {};
}

// What the record says in words repeats the count of seeds.
bool hasOwnCount(const ExportGate& gate) {
  return gate.kind == Kind::HeldBackSeeds && gate.state == State::Passed && gate.checks > 0;
}

// Records of earlier versions have times in nanoseconds.
QString withReadableTimes(QString text) {
  static const QRegularExpression time(u"\\b(\\d{4,}(?:\\.\\d+)?) ns\\b"_s);
  for (auto match = time.match(text); match.hasMatch(); match = time.match(text)) {
    text.replace(match.capturedStart(), match.capturedLength(), formatTime(match.captured(1).toDouble()));
  }
  return text;
}

QString foundText(const ExportGate& gate) {
  QStringList parts;
  if (gate.speedup.isKnown()) {
    parts.push_back(tr("%1 against the fastest baseline").arg(formatSpeedupInterval(gate.speedup)));
  }
  if (gate.overEager.isKnown()) {
    parts.push_back(tr("%1 against eager").arg(formatSpeedupInterval(gate.overEager)));
  }
  parts.push_back(countText(gate));
  if (gate.worst) {
    parts.push_back(tr("relative error %1 (eager %2)")
                        .arg(formatError(gate.worst->relativeL2), formatError(gate.worst->eagerRelativeL2)));
  }
  if (!hasOwnCount(gate)) {
    parts.push_back(withReadableTimes(toQString(gate.detail)));
  }
  parts.removeAll(QString());
  if (parts.isEmpty() && gate.state == State::NotRun) {
    return tr("not run yet");
  }
  return parts.join(u"; "_s);
}

QString whenPassed(Kind kind) {
  switch (kind) {
    case Kind::Verified: return tr("Results are as accurate as those of PyTorch");
    case Kind::HardInputs: return tr("Correct for large, tiny, equal and cancelling values");
    case Kind::HeldBackSeeds: return tr("Correct for seeds that the search did not use");
    case Kind::Sanitizer: return tr("No out-of-bounds access, no race, no uninitialised read");
    case Kind::FreshProcess: return tr("The time was confirmed outside of the search");
    case Kind::Faster: return tr("Faster than PyTorch");
    case Kind::HeldOutShapes: return tr("Also correct at other shapes; the file checks for the searched shape");
  }
  return {};
}

QString whenFailed(Kind kind) {
  switch (kind) {
    case Kind::Verified:
    case Kind::HardInputs:
    case Kind::HeldBackSeeds:
    case Kind::Sanitizer: return tr("Incorrect: cannot be exported");
    case Kind::FreshProcess: return tr("A fresh process did not confirm the recorded result");
    case Kind::Faster: return tr("No significant difference from PyTorch");
    case Kind::HeldOutShapes:
      return tr("Correct for the searched shape only; the file runs the original operators for other shapes");
  }
  return {};
}

QString whenNotRun(Kind kind) {
  switch (kind) {
    case Kind::Verified:
    case Kind::HardInputs: return tr("The candidate was discarded before these checks");
    case Kind::HeldBackSeeds: return tr("May be correct only for the seeds of the search");
    case Kind::Sanitizer: return tr("Out-of-bounds accesses are possible");
    case Kind::FreshProcess: return tr("The time was measured during the search only");
    case Kind::Faster: return tr("Not fully measured");
    case Kind::HeldOutShapes: return tr("Not checked at other shapes; the file checks for the searched shape");
  }
  return {};
}

QString whenNotApplicable(Kind kind) {
  return kind == Kind::Sanitizer ? tr("For CUDA kernels only") : tr("The candidate is PyTorch's own operators");
}

QString meaningText(const ExportGate& gate) {
  switch (gate.state) {
    case State::Passed: return whenPassed(gate.kind);
    case State::Failed: return whenFailed(gate.kind);
    case State::NotRun: return whenNotRun(gate.kind);
    case State::NotApplicable: return whenNotApplicable(gate.kind);
    case State::Running: return {};
  }
  return {};
}

}  // namespace

FormatText describeFormat(services::ExportFormat format) {
  if (format == services::ExportFormat::ModelNew) {
    return {
        tr("ModelNew file"),
        tr("One Python file with class ModelNew that takes the place of your module. For use in a program, and what "
           "KernelBench reads.")};
  }
  return {tr("Project folder"),
          tr("The same file with the kernels as a file of their own, launch plan and provenance as JSON, a test and a "
             "benchmark against the original module, and a README. For reading, reviewing and going on by hand.")};
}

GateText describeGate(const ExportGate& gate) {
  return {stateWord(gate.state), gateName(gate.kind), foundText(gate), meaningText(gate)};
}

Kind gateOf(domain::AssuranceKind check) {
  switch (check) {
    case domain::AssuranceKind::HeldBackSeeds: return Kind::HeldBackSeeds;
    case domain::AssuranceKind::Memcheck:
    case domain::AssuranceKind::Racecheck:
    case domain::AssuranceKind::Initcheck: return Kind::Sanitizer;
    case domain::AssuranceKind::HeldOutShapes: return Kind::HeldOutShapes;
    case domain::AssuranceKind::FreshProcess: return Kind::FreshProcess;
  }
  return Kind::Verified;
}

QString provenanceLabel(const std::string& label) {
  static constexpr const char* kLabels[] = {
      QT_TRANSLATE_NOOP("export", "task"),        QT_TRANSLATE_NOOP("export", "task id"),
      QT_TRANSLATE_NOOP("export", "run"),         QT_TRANSLATE_NOOP("export", "candidate"),
      QT_TRANSLATE_NOOP("export", "lineage"),     QT_TRANSLATE_NOOP("export", "seed"),
      QT_TRANSLATE_NOOP("export", "cell"),        QT_TRANSLATE_NOOP("export", "speedup"),
      QT_TRANSLATE_NOOP("export", "measured"),    QT_TRANSLATE_NOOP("export", "error"),
      QT_TRANSLATE_NOOP("export", "device"),      QT_TRANSLATE_NOOP("export", "verified with"),
      QT_TRANSLATE_NOOP("export", "compiled by"), QT_TRANSLATE_NOOP("export", "written by"),
      QT_TRANSLATE_NOOP("export", "with"),        QT_TRANSLATE_NOOP("export", "baseline"),
      QT_TRANSLATE_NOOP("export", "checked"),     QT_TRANSLATE_NOOP("export", "warning")};
  for (const char* known : kLabels) {
    if (label == known) {
      return tr(known);
    }
  }
  return toQString(label);
}

}  // namespace swage::ui
