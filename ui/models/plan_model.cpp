// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/plan_model.h"

#include <QStringList>

#include <array>

#include "ui/models/format.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

constexpr Qt::Alignment kRight = Qt::AlignRight | Qt::AlignVCenter;
constexpr std::array<ColumnInfo, 6> kColumns = {{
    {QT_TRANSLATE_NOOP("columns", "Step"), QT_TRANSLATE_NOOP("columns", "Order of execution"), kRight},
    {QT_TRANSLATE_NOOP("columns", "Kind"), QT_TRANSLATE_NOOP("columns", "Kernel launch, PyTorch operator or fill")},
    {QT_TRANSLATE_NOOP("columns", "Name"), QT_TRANSLATE_NOOP("columns", "Entry point or operator")},
    {QT_TRANSLATE_NOOP("columns", "Grid × block"), QT_TRANSLATE_NOOP("columns", "Launch geometry")},
    {QT_TRANSLATE_NOOP("columns", "Shared"), QT_TRANSLATE_NOOP("columns", "Dynamic shared memory in bytes"), kRight},
    {QT_TRANSLATE_NOOP("columns", "Buffers and arguments"),
     QT_TRANSLATE_NOOP("columns", "In the order they are passed")},
}};

QString tr(const char* text) {
  return QCoreApplication::translate("plan", text);
}

QString dimensions(const domain::Dim3& size) {
  QString text = QString::number(size.x);
  if (size.y != 1 || size.z != 1) {
    text += u"·"_s % QString::number(size.y);
  }
  if (size.z != 1) {
    text += u"·"_s % QString::number(size.z);
  }
  return text;
}

QString bufferText(const domain::LaunchPlan& plan, domain::ValueId id) {
  const auto index = static_cast<std::size_t>(id.value());
  if (!id.isValid() || index >= plan.buffers.size()) {
    return u"–"_s;
  }
  const domain::TensorType& type = plan.buffers[index];
  QStringList shape;
  for (const std::int64_t extent : type.shape) {
    shape.push_back(QString::number(extent));
  }
  return u"%"_s % QString::number(id.value()) % u" "_s % toQString(domain::name(type.dtype)) % u"["_s %
         shape.join(u", "_s) % u"]"_s;
}

struct ArgumentText {
  const domain::LaunchPlan& plan;
  QString operator()(domain::ValueId id) const { return bufferText(plan, id); }
  QString operator()(domain::Int32 value) const { return QString::number(value.value); }
  QString operator()(std::int64_t value) const { return QString::number(value); }
  QString operator()(float value) const { return QString::number(static_cast<double>(value)); }
  QString operator()(double value) const { return QString::number(value); }
  QString operator()(const domain::TensorMap& map) const {
    QStringList box;
    for (const std::int64_t extent : map.box) {
      box.push_front(QString::number(extent));
    }
    return tr("map of %1 in boxes of %2").arg(bufferText(plan, map.buffer), box.join(u"×"_s));
  }
};

struct StepRow {
  const domain::LaunchPlan& plan;

  PlanRow operator()(const domain::KernelStep& step) const {
    QStringList arguments;
    for (const domain::KernelArgument& argument : step.arguments) {
      arguments.push_back(std::visit(ArgumentText{plan}, argument));
    }
    QString geometry = dimensions(step.grid) % u" × "_s % dimensions(step.block);
    if (step.cluster != domain::Dim3{}) {
      geometry += tr(", clusters of %1").arg(dimensions(step.cluster));
    }
    return {.kind = step.cooperative ? tr("cooperative kernel") : tr("kernel"),
            .name = toQString(step.entry),
            .geometry = geometry,
            .shared = step.dynamicSharedBytes > 0 ? formatCount(step.dynamicSharedBytes) : QString(),
            .arguments = arguments.join(u", "_s)};
  }
  PlanRow operator()(const domain::AtenStep& step) const {
    QStringList arguments;
    for (const domain::ValueId id : domain::inputsOf(step.node)) {
      arguments.push_back(bufferText(plan, id));
    }
    QStringList results;
    for (const domain::ValueId id : step.node.outputs) {
      results.push_back(bufferText(plan, id));
    }
    return {.kind = tr("PyTorch"),
            .name = toQString(step.node.op),
            .geometry = {},
            .shared = {},
            .arguments = arguments.join(u", "_s) % u" → "_s % results.join(u", "_s)};
  }
  PlanRow operator()(const domain::ZeroStep& step) const {
    return {
        .kind = tr("zero fill"), .name = {}, .geometry = {}, .shared = {}, .arguments = bufferText(plan, step.buffer)};
  }
};

}  // namespace

std::vector<PlanRow> planRows(const domain::LaunchPlan& plan) {
  std::vector<PlanRow> rows;
  rows.reserve(plan.steps.size());
  for (const domain::PlanStep& step : plan.steps) {
    rows.push_back(std::visit(StepRow{plan}, step));
  }
  return rows;
}

std::span<const ColumnInfo> PlanModel::columns() const {
  return kColumns;
}

QVariant PlanModel::cell(int row, PlanColumn column, int role) const {
  if (role != Qt::DisplayRole && !(role == Qt::ToolTipRole && column == PlanColumn::Arguments)) {
    return {};
  }
  const PlanRow& step = item(row);
  switch (column) {
    case PlanColumn::Step: return row + 1;
    case PlanColumn::Kind: return step.kind;
    case PlanColumn::Name: return step.name;
    case PlanColumn::Geometry: return step.geometry;
    case PlanColumn::Shared: return step.shared;
    case PlanColumn::Arguments: return step.arguments;
  }
  return {};
}

}  // namespace swage::ui
