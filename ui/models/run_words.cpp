// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/run_words.h"

#include <QCoreApplication>
#include <QRegularExpression>
#include <QStringList>

#include <algorithm>

#include "core/domain/record/winner.h"
#include "ui/models/format.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

using services::Progress;
using services::RunState;

QString tr(const char* text) {
  return QCoreApplication::translate("runs", text);
}

QString usedText(const Progress& progress) {
  QString used = formatDuration(progress.elapsedSeconds);
  if (progress.budgetSeconds > 0.0) {
    used += u" / "_s % formatDuration(progress.budgetSeconds);
  }
  return progress.maxEvaluations > 0
             ? tr("%1 · %2 / %3 candidates")
                   .arg(used, formatCount(progress.evaluations), formatCount(progress.maxEvaluations))
             : used;
}

}  // namespace

QString stateWord(RunState state) {
  return tr(std::string(services::title(state)).c_str());
}

QString statusWord(domain::RunStatus status) {
  return tr(std::string(domain::title(status)).c_str());
}

QString pytorchText(const std::string& mode) {
  return tr("PyTorch (%1)").arg(toQString(domain::pytorchWay(mode)));
}

// Before its last measurement a run that goes on may still find something.
QString pytorchWinsText(const services::RunSummary& run) {
  const bool hasEnded = run.winner.isValid() || run.status == domain::RunStatus::Finished;
  return hasEnded && domain::pytorchWins(run)
             ? tr("no candidate is significantly faster than %1").arg(pytorchText(run.baselineMode))
             : QString();
}

std::optional<Budget> parseBudget(const QString& text) {
  static const QRegularExpression candidates(u"^\\s*([\\d,]+)\\s*(?:candidates?|evaluations?)\\s*$"_s,
                                             QRegularExpression::CaseInsensitiveOption);
  if (const auto match = candidates.match(text); match.hasMatch()) {
    const std::int64_t count = match.captured(1).remove(u',').toLongLong();
    return count > 0 ? std::optional(Budget{.seconds = 0.0, .evaluations = count}) : std::nullopt;
  }
  const std::optional<double> seconds = parseDuration(text);
  return seconds ? std::optional(Budget{.seconds = *seconds}) : std::nullopt;
}

QString editableBudget(const Budget& budget) {
  return budget.evaluations > 0 ? tr("%1 candidates").arg(budget.evaluations) : editableDuration(budget.seconds);
}

double shareDone(const Progress& progress) {
  if (progress.budgetSeconds <= 0.0 && progress.maxEvaluations <= 0) {
    return progress.elapsedSeconds > 0.0 ? 1.0 : 0.0;  // a recorded run
  }
  double done = progress.budgetSeconds > 0.0 ? progress.elapsedSeconds / progress.budgetSeconds : 0.0;
  if (progress.maxEvaluations > 0) {
    done = std::max(done, static_cast<double>(progress.evaluations) / static_cast<double>(progress.maxEvaluations));
  }
  return std::clamp(done, 0.0, 1.0);
}

std::optional<double> secondsLeft(const Progress& progress) {
  std::optional<double> left;
  if (progress.budgetSeconds > 0.0) {
    left = progress.budgetSeconds - progress.elapsedSeconds;
  }
  if (progress.maxEvaluations > 0 && progress.perSecond > 0.0) {
    const double byCount = static_cast<double>(progress.maxEvaluations - progress.evaluations) / progress.perSecond;
    left = std::min(left.value_or(byCount), byCount);
  }
  return left ? std::optional(std::max(*left, 0.0)) : std::nullopt;
}

QString progressText(RunState state, const Progress& progress) {
  QStringList parts{stateWord(state)};
  if (progress.elapsedSeconds > 0.0) {
    parts.push_back(usedText(progress));
  }
  const bool isSearching = (state == RunState::Running || state == RunState::Paused) && !progress.finishing;
  if (const auto left = secondsLeft(progress); isSearching && left && progress.elapsedSeconds > 0.0) {
    parts.push_back(progress.maxEvaluations > 0 ? tr("about %1 left").arg(formatDuration(*left))
                                                : tr("%1 left").arg(formatDuration(*left)));
  }
  return parts.join(u" · "_s);
}

}  // namespace swage::ui
