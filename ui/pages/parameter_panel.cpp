// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/parameter_panel.h"

#include <QComboBox>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QVBoxLayout>

#include <algorithm>

#include "ui/models/format.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

QString nodesText(const std::vector<int>& nodes) {
  QStringList texts;
  for (const int node : nodes) {
    texts.push_back(QString::number(node));
  }
  return ParameterPanel::tr("operations %1").arg(texts.join(u", "_s));
}

QLabel* makeMuted(const QString& text) {
  auto* label = new QLabel(text);
  label->setForegroundRole(QPalette::PlaceholderText);
  label->setWordWrap(true);
  return label;
}

}  // namespace

ParameterPanel::ParameterPanel(QWidget* parent)
    : QWidget(parent),
      m_list(new QVBoxLayout),
      m_hint(makeMuted({})),
      m_reset(new QPushButton(tr("Reset"))),
      m_evaluate(new QPushButton(tr("Evaluate &Parameters"))) {
  auto* inside = new QWidget;
  inside->setLayout(m_list);
  m_list->setContentsMargins(10, 8, 10, 8);
  auto* area = new QScrollArea;
  area->setObjectName(u"parameterArea"_s);
  area->setWidgetResizable(true);
  area->setFrameShape(QFrame::NoFrame);
  area->setWidget(inside);
  m_hint->setObjectName(u"parameterHint"_s);
  m_reset->setObjectName(u"resetParameters"_s);
  m_evaluate->setObjectName(u"evaluateParameters"_s);
  auto* buttons = new QHBoxLayout;
  buttons->setContentsMargins(10, 6, 10, 8);
  buttons->setSpacing(8);
  buttons->addWidget(m_hint, 1);
  buttons->addWidget(m_reset);
  buttons->addWidget(m_evaluate);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(area, 1);
  column->addLayout(buttons);
  connect(m_reset, &QPushButton::clicked, this, &ParameterPanel::reset);
  connect(m_evaluate, &QPushButton::clicked, this, [this] { Q_EMIT evaluationRequested(m_edited); });
  setRegions({}, {});
}

void ParameterPanel::setRegions(const domain::Genome& genome, const std::vector<services::RegionParameters>& regions) {
  m_recorded = genome;
  m_edited = genome;
  m_choices.clear();
  delete m_content;
  m_content = new QWidget;
  auto* column = new QVBoxLayout(m_content);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(12);
  if (regions.empty()) {
    column->addWidget(makeMuted(tr("No pattern was used: every step is a PyTorch operator.")));
  }
  for (std::size_t i = 0; i < regions.size(); ++i) {
    column->addWidget(makeRegion(i, regions[i]));
  }
  column->addStretch(1);
  m_list->addWidget(m_content);
  updateButtons();
}

QWidget* ParameterPanel::makeRegion(std::size_t index, const services::RegionParameters& region) {
  auto* box = new QWidget;
  auto* form = new QFormLayout(box);
  form->setContentsMargins(0, 0, 0, 0);
  form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
  auto* title = new QLabel(tr("Region %1: %2").arg(index + 1).arg(toQString(region.pattern)));
  QFont bold = title->font();
  bold.setWeight(QFont::DemiBold);
  title->setFont(bold);
  form->addRow(title);
  form->addRow(makeMuted(QString(toQString(region.description) % u'\n' % nodesText(region.nodes)).trimmed()));
  for (const services::ParameterRange& range : region.parameters) {
    auto* name = new QLabel(toQString(range.name));
    name->setToolTip(toQString(range.description));
    QComboBox* choice = makeChoice(index, range);
    name->setBuddy(choice);
    auto* field = new QWidget;
    auto* row = new QHBoxLayout(field);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(10);
    row->addWidget(choice);
    row->addWidget(makeMuted(toQString(range.description)), 1);
    form->addRow(name, field);
  }
  return box;
}

QComboBox* ParameterPanel::makeChoice(std::size_t index, const services::ParameterRange& range) {
  auto* choice = new QComboBox;
  choice->setObjectName(u"parameter_%1_%2"_s.arg(index).arg(toQString(range.name)));
  choice->setAccessibleName(toQString(range.name));
  choice->setToolTip(toQString(range.description));
  std::vector<std::int64_t> values = range.values;
  if (std::find(values.begin(), values.end(), range.value) == values.end()) {
    values.push_back(range.value);
  }
  int recorded = 0;
  for (const std::int64_t value : values) {
    if (value == range.value) {
      recorded = choice->count();
    }
    const QString number = QString::number(value);
    choice->addItem(value == range.standard ? tr("%1 (standard)").arg(number) : number,
                    QVariant::fromValue<qlonglong>(value));
  }
  choice->setMinimumWidth(choice->fontMetrics().horizontalAdvance(u"000000 (standard)____"_s));
  choice->setCurrentIndex(recorded);
  choice->setEnabled(values.size() > 1);
  m_choices.emplace_back(choice, recorded);
  connect(choice, &QComboBox::currentIndexChanged, this, [this, choice, index, name = range.name] {
    m_edited.regions[index].parameters[name] = choice->currentData().toLongLong();
    updateButtons();
  });
  return choice;
}

void ParameterPanel::reset() {
  for (const auto& [choice, recorded] : m_choices) {
    choice->setCurrentIndex(recorded);
  }
}

void ParameterPanel::setObstacle(const QString& obstacle) {
  m_obstacle = obstacle;
  updateButtons();
}

void ParameterPanel::updateButtons() {
  const bool isChanged = !(m_edited == m_recorded);
  m_reset->setEnabled(isChanged);
  m_evaluate->setEnabled(isChanged && m_obstacle.isEmpty());
  m_hint->setText(m_obstacle.isEmpty() ? tr("With other parameters the source is generated again from its patterns, "
                                            "without edits made by hand.")
                                       : m_obstacle);
  m_reset->setVisible(!m_choices.empty());
  m_evaluate->setVisible(!m_choices.empty());
  m_hint->setVisible(!m_choices.empty());
}

}  // namespace swage::ui
