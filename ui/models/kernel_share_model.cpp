// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/kernel_share_model.h"

#include <algorithm>
#include <array>

#include "ui/models/delta.h"
#include "ui/models/format.h"
#include "ui/models/profile_text.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

constexpr Qt::Alignment kRight = Qt::AlignRight | Qt::AlignVCenter;
constexpr std::array<ColumnInfo, 9> kColumns = {{
    {QT_TRANSLATE_NOOP("columns", "Kernel"), QT_TRANSLATE_NOOP("columns", "Entry point")},
    {QT_TRANSLATE_NOOP("columns", "Launches"), QT_TRANSLATE_NOOP("columns", "In one call"), kRight},
    {QT_TRANSLATE_NOOP("columns", "Time"), QT_TRANSLATE_NOOP("columns", "Of all its launches in one call"), kRight},
    {QT_TRANSLATE_NOOP("columns", "Share"), QT_TRANSLATE_NOOP("columns", "Of the candidate's time"), kRight},
    {QT_TRANSLATE_NOOP("columns", "At most"),
     QT_TRANSLATE_NOOP("columns", "How many times faster the candidate would be if this took no time (Amdahl)"),
     kRight},
    {QT_TRANSLATE_NOOP("columns", "Bound by"), QT_TRANSLATE_NOOP("columns", "What keeps it from being faster")},
    {QT_TRANSLATE_NOOP("columns", "Occupancy"),
     QT_TRANSLATE_NOOP("columns", "Resident warps, achieved and possible, of the most a multiprocessor holds"), kRight},
    {QT_TRANSLATE_NOOP("columns", "Registers"), QT_TRANSLATE_NOOP("columns", "For each thread"), kRight},
    {QT_TRANSLATE_NOOP("columns", "Spilled"), QT_TRANSLATE_NOOP("columns", "Bytes of registers kept in memory"),
     kRight},
}};
constexpr double kWorthARow = 0.005;

QString tr(const char* text) {
  return QCoreApplication::translate("profile", text);
}

QString none() {
  return u"–"_s;
}

QString occupancyText(const KernelShare& kernel) {
  if (kernel.theoreticalOccupancy <= 0.0) {
    return none();
  }
  const QString possible = formatPercent(kernel.theoreticalOccupancy);
  return kernel.achievedOccupancy ? formatPercent(*kernel.achievedOccupancy) % u" / "_s % possible : possible;
}

KernelShare shareOf(const services::ProfileReport& report, std::size_t index) {
  const domain::KernelProfile& profile = report.profile.kernels[index];
  const domain::KernelDiagnosis& diagnosis = report.diagnosis.kernels[index];
  return {.name = toQString(profile.entry),
          .launches = profile.launches,
          .totalNs = diagnosis.totalNs,
          .share = diagnosis.share,
          .bound = boundName(diagnosis.bound),
          .achievedOccupancy = diagnosis.achievedOccupancy,
          .theoreticalOccupancy = profile.theoreticalOccupancy,
          .registers = profile.registers,
          .spillBytes = profile.spillBytes,
          .index = static_cast<int>(index)};
}

}  // namespace

std::vector<KernelShare> kernelShares(const services::ProfileReport& report) {
  std::vector<KernelShare> rows;
  const domain::Diagnosis& diagnosis = report.diagnosis;
  const std::size_t count = std::min(report.profile.kernels.size(), diagnosis.kernels.size());
  for (std::size_t i = 0; i < count; ++i) {
    rows.push_back(shareOf(report, i));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.share > b.share; });
  const double outside = diagnosis.candidateNs - diagnosis.kernelsNs;
  if (diagnosis.kernelsNs > 0.0 && outside > kWorthARow * diagnosis.candidateNs) {
    rows.push_back({.name = tr("outside of kernels"),
                    .totalNs = outside,
                    .share = outside / diagnosis.candidateNs,
                    .bound = none(),
                    .achievedOccupancy = std::nullopt});
  }
  return rows;
}

std::span<const ColumnInfo> KernelShareModel::columns() const {
  return kColumns;
}

QVariant KernelShareModel::cell(int row, KernelColumn column, int role) const {
  if (role != Qt::DisplayRole && !(role == Qt::ToolTipRole && column == KernelColumn::Name)) {
    return {};
  }
  const KernelShare& kernel = item(row);
  switch (column) {
    case KernelColumn::Name: return kernel.name;
    case KernelColumn::Launches: return kernel.index >= 0 ? QString::number(kernel.launches) : none();
    case KernelColumn::Time: return formatTime(kernel.totalNs);
    case KernelColumn::Share: return kernel.totalNs > 0.0 ? formatPercent(kernel.share) : none();
    case KernelColumn::Limit: return kernel.totalNs > 0.0 ? formatSpeedup(kernel.speedupLimit()) : none();
    case KernelColumn::Bound: return kernel.bound;
    case KernelColumn::Occupancy: return occupancyText(kernel);
    case KernelColumn::Registers: return kernel.registers > 0 ? QString::number(kernel.registers) : none();
    case KernelColumn::Spills: return kernel.index >= 0 ? formatCount(kernel.spillBytes) : none();
  }
  return {};
}

}  // namespace swage::ui
