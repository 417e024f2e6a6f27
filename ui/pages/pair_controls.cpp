// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/pair_controls.h"

#include <QAbstractItemView>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalBlocker>
#include <QVBoxLayout>

#include "ui/models/format.h"
#include "ui/models/swarm_models.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

using services::PairOrder;
using Kind = PairOrder::Kind;

constexpr int kMostWords = 2000;  // as much as a prompt takes

}  // namespace

PairControls::PairControls(QWidget* parent)
    : QWidget(parent),
      m_name(new QLabel),
      m_pause(new QPushButton(tr("Pause"))),
      m_role(new QComboBox),
      m_words(new QLineEdit),
      m_say(new QPushButton(tr("Send"))),
      m_waiting(new QLabel) {
  m_name->setObjectName(u"pairName"_s);
  m_pause->setObjectName(u"pairPause"_s);
  m_role->setObjectName(u"pairRole"_s);
  m_role->setAccessibleName(tr("Role of the pair"));
  for (const char* role : {"fusion", "memory", "parameters", "arithmetic"}) {
    m_role->addItem(toQString(role), toQString(role));
  }
  m_words->setObjectName(u"pairWords"_s);
  m_words->setAccessibleName(tr("Message to the model"));
  m_words->setPlaceholderText(tr("Advice for its next prompt"));
  m_words->setMaxLength(kMostWords);
  m_words->setClearButtonEnabled(true);
  m_say->setObjectName(u"pairSay"_s);
  m_waiting->setObjectName(u"pairWaitingWords"_s);
  m_waiting->setForegroundRole(QPalette::PlaceholderText);
  m_waiting->setWordWrap(true);
  auto* roleLabel = new QLabel(tr("&Role:"));
  roleLabel->setBuddy(m_role);
  auto* line = new QHBoxLayout;
  line->addWidget(m_name);
  line->addWidget(m_pause);
  line->addSpacing(fontMetrics().height() / 2);
  line->addWidget(roleLabel);
  line->addWidget(m_role);
  line->addStretch(1);
  auto* talk = new QHBoxLayout;  // a line of its own: a dock may be narrow
  talk->addWidget(m_words, 1);
  talk->addWidget(m_say);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(10, 6, 10, 8);
  column->addLayout(line);
  column->addLayout(talk);
  column->addWidget(m_waiting);
  m_name->setMinimumWidth(fontMetrics().averageCharWidth() * 12);
  connect(m_pause, &QPushButton::clicked, this, &PairControls::togglePause);
  connect(m_role, &QComboBox::activated, this, &PairControls::takeRole);
  connect(m_say, &QPushButton::clicked, this, &PairControls::say);
  connect(m_words, &QLineEdit::returnPressed, this, &PairControls::say);
  connect(m_words, &QLineEdit::textChanged, this,
          [this] { m_say->setEnabled(m_words->isEnabled() && !m_words->text().trimmed().isEmpty()); });
  setPair(std::nullopt, false);
}

void PairControls::setPair(const std::optional<services::PairStanding>& pair, bool isLive) {
  m_pair = pair;
  m_isLive = isLive;
  const bool can = pair.has_value() && isLive;
  const bool isModel = pair && pair->canListen();
  m_name->setText(pair ? pairName(*pair) : tr("No pair selected"));
  m_pause->setEnabled(can);
  m_pause->setText(pair && pair->isPaused ? tr("Resume") : tr("Pause"));
  m_pause->setToolTip(!isLive                  ? tr("Only while a search is going on")
                      : pair && pair->isPaused ? tr("Give it turns again")
                                               : tr("Give it no turns until it is resumed"));
  m_role->setEnabled(can && !isModel);
  m_role->setToolTip(isModel ? tr("Language models have no role: send advice instead")
                             : tr("The rules that its judge goes by; it keeps the role you choose"));
  showRole();
  showWords(can && isModel);
}

void PairControls::showRole() {
  const QSignalBlocker quiet(m_role);
  if (!m_role->view()->isVisible()) {  // not under the hand of who is choosing
    m_role->setCurrentIndex(m_pair ? m_role->findData(toQString(m_pair->role)) : -1);
  }
}

void PairControls::showWords(bool canSay) {
  m_words->setEnabled(canSay);
  m_words->setToolTip(canSay      ? tr("One sentence; it is kept in the record")
                      : !m_isLive ? tr("Only while a search is going on")
                      : m_pair    ? tr("Built-in pairs follow rules and cannot read text: choose a role instead")
                                  : tr("Select a pair first"));
  m_say->setToolTip(m_words->toolTip());
  m_say->setEnabled(canSay && !m_words->text().trimmed().isEmpty());
  const QString waiting = m_pair ? toQString(m_pair->waitingWords) : QString();
  m_waiting->setText(tr("For its next prompt: %1").arg(waiting));
  m_waiting->setVisible(!waiting.isEmpty());
}

services::PairOrder PairControls::orderOf(Kind kind) const {
  return {.kind = kind, .pair = m_pair->pair, .model = m_pair->model, .text = {}};
}

void PairControls::togglePause() {
  if (m_pair) {
    Q_EMIT ordered(orderOf(m_pair->isPaused ? Kind::Resume : Kind::Pause));
  }
}

void PairControls::takeRole(int index) {
  if (m_pair) {
    PairOrder order = orderOf(Kind::TakeRole);
    order.text = m_role->itemData(index).toString().toStdString();
    Q_EMIT ordered(order);
  }
}

void PairControls::say() {
  const QString words = m_words->text().trimmed();
  if (m_pair && m_words->isEnabled() && !words.isEmpty()) {
    PairOrder order = orderOf(Kind::Say);
    order.text = words.toStdString();
    m_words->clear();
    Q_EMIT ordered(order);
  }
}

}  // namespace swage::ui
