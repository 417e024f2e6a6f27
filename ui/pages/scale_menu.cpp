// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/scale_menu.h"

#include <QActionGroup>
#include <QHBoxLayout>
#include <QJsonArray>
#include <QLabel>
#include <QLineEdit>
#include <QWidgetAction>

#include <algorithm>

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

// In which a range is typed.
struct Unit {
  QString name;
  double size = 1.0;
};

Unit unitOf(CellMetric metric) {
  switch (metric) {
    case CellMetric::Speedup: return {u"×"_s, 1.0};
    case CellMetric::Time: return {u"µs"_s, 1e3};
    case CellMetric::RoofShare: return {u"%"_s, 0.01};
    case CellMetric::Found: return {u"s"_s, 1.0};
    default: return {};
  }
}

QString numberText(double value) {
  return QString::number(value, 'g', 4);
}

}  // namespace

ScaleMenu::ScaleMenu(QWidget* parent)
    : QMenu(parent), m_shapes(new QActionGroup(this)), m_low(new QLineEdit), m_high(new QLineEdit), m_unit(new QLabel) {
  setObjectName(u"scaleMenu"_s);
  addShapes();
  addSeparator();
  addRange();
  showOptions();
}

void ScaleMenu::addShapes() {
  const auto add = [this](const QString& name, const QString& text, std::optional<bool> logarithmic) {
    QAction* action = addAction(text);
    action->setObjectName(name);
    action->setCheckable(true);
    action->setData(logarithmic ? static_cast<int>(*logarithmic) : -1);
    m_shapes->addAction(action);
    connect(action, &QAction::triggered, this, [this, logarithmic] { setShape(logarithmic); });
  };
  add(u"scaleAuto"_s, tr("&Auto"), std::nullopt);
  add(u"scaleLinear"_s, tr("&Linear"), false);
  add(u"scaleLog"_s, tr("Lo&garithmic"), true);
}

void ScaleMenu::addRange() {
  auto* group = new QActionGroup(this);
  m_fitted = addAction(tr("&Range of the Values"));
  m_fitted->setObjectName(u"scaleFitted"_s);
  m_fixed = addAction(tr("&Keep This Range"));
  m_fixed->setObjectName(u"scaleFixed"_s);
  for (QAction* action : {m_fitted, m_fixed}) {
    action->setCheckable(true);
    group->addAction(action);
  }
  connect(m_fitted, &QAction::triggered, this, [this] { setRange(std::nullopt); });
  connect(m_fixed, &QAction::triggered, this, [this] { setRange(m_scale.range()); });
  auto* fields = new QWidget;
  auto* row = new QHBoxLayout(fields);
  row->addWidget(new QLabel(tr("From")));
  row->addWidget(m_low);
  row->addWidget(new QLabel(tr("to")));
  row->addWidget(m_high);
  row->addWidget(m_unit);
  m_low->setObjectName(u"scaleLow"_s);
  m_low->setAccessibleName(tr("Lower end of the scale"));
  m_high->setObjectName(u"scaleHigh"_s);
  m_high->setAccessibleName(tr("Upper end of the scale"));
  for (QLineEdit* field : {m_low, m_high}) {
    field->setMaximumWidth(field->fontMetrics().averageCharWidth() * 12);
    connect(field, &QLineEdit::returnPressed, this, &ScaleMenu::readRange);
  }
  auto* action = new QWidgetAction(this);
  action->setDefaultWidget(fields);
  addAction(action);
}

void ScaleMenu::setMetric(CellMetric metric) {
  m_metric = metric;
  showOptions();
}

void ScaleMenu::setScale(const CellScale& scale) {
  m_scale = scale;
  showOptions();
}

void ScaleMenu::setShape(std::optional<bool> logarithmic) {
  m_options[static_cast<std::size_t>(m_metric)].logarithmic = logarithmic;
  showOptions();
  Q_EMIT changed(options());
}

void ScaleMenu::setRange(std::optional<std::pair<double, double>> range) {
  m_options[static_cast<std::size_t>(m_metric)].range = range;
  showOptions();
  Q_EMIT changed(options());
}

// What is no range leaves the fields to be corrected.
void ScaleMenu::readRange() {
  bool hasLow = false;
  bool hasHigh = false;
  const double size = unitOf(m_metric).size;
  const double low = m_low->text().toDouble(&hasLow) * size;
  const double high = m_high->text().toDouble(&hasHigh) * size;
  if (hasLow && hasHigh && low < high && low >= 0.0) {
    setRange(std::pair(low, high));
    close();
  }
}

void ScaleMenu::showOptions() {
  const ScaleOptions& shown = options();
  const int shape = shown.logarithmic ? static_cast<int>(*shown.logarithmic) : -1;
  for (QAction* action : m_shapes->actions()) {
    action->setChecked(action->data().toInt() == shape);
  }
  (shown.range ? m_fixed : m_fitted)->setChecked(true);
  const Unit unit = unitOf(m_metric);
  const auto [low, high] = shown.range.value_or(m_scale.range());
  m_low->setText(numberText(low / unit.size));
  m_high->setText(numberText(high / unit.size));
  m_unit->setText(unit.name);
}

QString ScaleMenu::summary() const {
  QStringList parts;
  if (options().logarithmic) {
    parts.push_back(*options().logarithmic ? tr("Logarithmic") : tr("Linear"));
  }
  if (options().range) {
    parts.push_back(parts.isEmpty() ? tr("Fixed") : tr("fixed"));
  }
  return parts.isEmpty() ? tr("Auto") : parts.join(u", "_s);
}

QJsonObject ScaleMenu::saveState() const {
  QJsonArray scales;
  for (const ScaleOptions& one : m_options) {
    QJsonObject scale;
    if (one.logarithmic) {
      scale.insert(u"logarithmic"_s, *one.logarithmic);
    }
    if (one.range) {
      scale.insert(u"range"_s, QJsonArray{one.range->first, one.range->second});
    }
    scales.push_back(scale);
  }
  return {{u"scales"_s, scales}};
}

void ScaleMenu::restoreState(const QJsonObject& state) {
  const QJsonArray scales = state[u"scales"_s].toArray();
  for (int i = 0; i < std::min(static_cast<int>(scales.size()), kCellMetrics); ++i) {
    const QJsonObject scale = scales[i].toObject();
    const QJsonArray range = scale[u"range"_s].toArray();
    ScaleOptions& one = m_options[static_cast<std::size_t>(i)];
    one = {};
    if (scale[u"logarithmic"_s].isBool()) {
      one.logarithmic = scale[u"logarithmic"_s].toBool();
    }
    if (range.size() == 2 && range[0].toDouble() < range[1].toDouble()) {
      one.range = std::pair(range[0].toDouble(), range[1].toDouble());
    }
  }
  showOptions();
  Q_EMIT changed(options());
}

}  // namespace swage::ui
