// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/run_options.h"

#include <QAction>
#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QFormLayout>
#include <QLineEdit>
#include <QSpinBox>
#include <QStringList>

#include <algorithm>
#include <limits>

#include "ui/models/format.h"
#include "ui/models/task_catalogue.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

// The modes as `swage optimize --baselines` has them; eager is always measured.
const QString& eagerAlone() {
  static const QString modes = u"eager"_s;
  return modes;
}

std::vector<std::string> modesIn(const QString& text) {
  std::vector<std::string> modes;
  for (const QString& mode : text.split(u',', Qt::SkipEmptyParts)) {
    modes.push_back(mode.toStdString());
  }
  return modes;
}

QString textOf(const std::vector<std::string>& modes) {
  QStringList texts;
  for (const std::string& mode : modes) {
    texts.push_back(toQString(mode));
  }
  return texts.join(u',');
}

}  // namespace

RunOptions::RunOptions(QWidget* parent)
    : QWidget(parent),
      m_overrides(new QLineEdit(this)),
      m_inputs(new QLineEdit(this)),
      m_seed(new QSpinBox(this)),
      m_maxEvaluations(new QSpinBox(this)),
      m_targetSpeedup(new QDoubleSpinBox(this)),
      m_eval(new QCheckBox(tr("Evaluation mode instead of training mode"), this)),
      m_baselines(new QComboBox(this)) {
  m_overrides->setObjectName(u"overrides"_s);
  m_overrides->setPlaceholderText(tr("batch_size=16 dim=4096"));
  m_overrides->setToolTip(tr("Constants of the task file to change, as NAME=VALUE separated by spaces"));
  m_overrides->setMinimumWidth(m_overrides->fontMetrics().averageCharWidth() * 40);
  m_inputs->setObjectName(u"inputs"_s);
  m_inputs->setPlaceholderText(tr("only for a plain module"));
  m_seed->setObjectName(u"seed"_s);
  m_seed->setRange(0, std::numeric_limits<int>::max());
  m_seed->setValue(1);
  m_maxEvaluations->setObjectName(u"maxEvaluations"_s);
  m_maxEvaluations->setRange(0, std::numeric_limits<int>::max());
  m_maxEvaluations->setSpecialValueText(tr("no limit"));
  m_maxEvaluations->setSuffix(tr(" candidates"));
  m_maxEvaluations->setToolTip(tr("Ends the search after so many candidates, also before its time is over"));
  setUpTarget();
  setUpBaselines();
  auto* form = new QFormLayout(this);
  form->setContentsMargins(14, 12, 14, 12);
  form->addRow(tr("Overrides"), m_overrides);
  form->addRow(tr("Inputs"), m_inputs);
  form->addRow(tr("Seed"), m_seed);
  form->addRow(tr("At most"), m_maxEvaluations);
  form->addRow(tr("Target speedup"), m_targetSpeedup);
  form->addRow(tr("Baselines"), m_baselines);
  form->addRow(m_eval);
  connect(m_overrides, &QLineEdit::textChanged, this, &RunOptions::checkOverrides);
}

void RunOptions::setUpTarget() {
  m_targetSpeedup->setObjectName(u"targetSpeedup"_s);
  m_targetSpeedup->setRange(0.0, 1000.0);
  m_targetSpeedup->setSingleStep(0.1);
  m_targetSpeedup->setSpecialValueText(tr("none"));
  m_targetSpeedup->setSuffix(u"×"_s);
  m_targetSpeedup->setToolTip(
      tr("Ends the search once the whole interval of a candidate's speedup over PyTorch is at least this"));
}

void RunOptions::setUpBaselines() {
  m_baselines->setObjectName(u"baselines"_s);
  m_baselines->addItem(tr("automatic"), QString());
  for (const QString& modes : {eagerAlone(), u"eager,compile"_s, u"eager,compile,max-autotune"_s}) {
    m_baselines->addItem(QString(modes).replace(u',', u", "_s), modes);
  }
  m_baselines->setToolTip(
      tr("PyTorch's modes to compare with. automatic: eager and compile, and max-autotune from a time budget of "
         "5 minutes, as it takes minutes itself"));
}

void RunOptions::checkOverrides() {
  const bool valid = isValid();
  m_overrides->setToolTip(valid ? tr("Constants of the task file to change, as NAME=VALUE separated by spaces")
                                : tr("Every part must read NAME=VALUE"));
  QFont font = this->font();
  font.setItalic(!valid);
  m_overrides->setFont(font);
  Q_EMIT changed();
}

bool RunOptions::isValid() const {
  return parseOverrides(m_overrides->text()).has_value();
}

void RunOptions::setFrom(const services::RunSpec& spec) {
  QStringList parts;
  for (const auto& [name, value] : spec.overrides) {
    parts.push_back(toQString(name) % u"="_s % toQString(value));
  }
  m_overrides->setText(parts.join(u" "_s));
  m_inputs->setText(toQString(spec.inputs));
  m_seed->setValue(static_cast<int>(std::min<std::uint64_t>(spec.seed, std::numeric_limits<int>::max())));
  m_maxEvaluations->setValue(
      static_cast<int>(std::clamp<std::int64_t>(spec.maxEvaluations, 0, std::numeric_limits<int>::max())));
  m_targetSpeedup->setValue(spec.targetSpeedup);
  m_eval->setChecked(spec.eval);
  const bool isAutomatic = spec.baselines.empty() && spec.compileBaselines;
  const QString modes = spec.baselines.empty() && !isAutomatic ? eagerAlone() : textOf(spec.baselines);
  if (m_baselines->findData(modes) < 0) {  // from the command line
    m_baselines->addItem(QString(modes).replace(u',', u", "_s), modes);
  }
  m_baselines->setCurrentIndex(m_baselines->findData(modes));
}

void RunOptions::writeTo(services::RunSpec& spec) const {
  spec.overrides = parseOverrides(m_overrides->text()).value_or(decltype(spec.overrides){});
  spec.inputs = m_inputs->text().trimmed().toStdString();
  spec.seed = static_cast<std::uint64_t>(m_seed->value());
  spec.maxEvaluations = m_maxEvaluations->value();
  spec.targetSpeedup = m_targetSpeedup->value();
  spec.eval = m_eval->isChecked();
  const QString modes = m_baselines->currentData().toString();
  spec.baselines = modesIn(modes);
  spec.compileBaselines = modes != eagerAlone();
}

}  // namespace swage::ui
