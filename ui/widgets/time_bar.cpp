// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/time_bar.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QSignalBlocker>
#include <QSlider>
#include <QToolButton>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "ui/models/format.h"
#include "ui/widgets/icons.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

using std::chrono_literals::operator""ms;

constexpr int kPositions = 1000;
// However long the run was, it plays in so many steps: about twelve seconds.
constexpr std::chrono::milliseconds kStep = 40ms;
constexpr int kSteps = 300;

}  // namespace

TimeBar::TimeBar(QWidget* parent)
    : QWidget(parent),
      m_play(new QToolButton(this)),
      m_slider(new QSlider(Qt::Horizontal, this)),
      m_text(new QLabel(this)) {
  setObjectName(u"timeBar"_s);
  m_play->setObjectName(u"playRun"_s);
  m_play->setAutoRaise(true);
  m_play->setCheckable(true);
  m_play->setAccessibleName(tr("Play the run from its start"));
  m_play->setToolTip(tr("Show how the archive was filled"));
  m_slider->setObjectName(u"momentSlider"_s);
  m_slider->setAccessibleName(tr("Moment of the run"));
  m_slider->setRange(0, kPositions);
  m_slider->setPageStep(kPositions / 10);
  m_slider->setSingleStep(kPositions / 100);
  m_text->setObjectName(u"momentText"_s);
  m_text->setMinimumWidth(m_text->fontMetrics().horizontalAdvance(u"0:00:00 of 0:00:00"_s));
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(8, 0, 8, 0);
  row->addWidget(m_play);
  row->addWidget(m_slider, 1);
  row->addWidget(m_text);
  m_player.setInterval(kStep);
  connect(&m_player, &QTimer::timeout, this, &TimeBar::playOn);
  connect(m_play, &QToolButton::clicked, this, &TimeBar::togglePlaying);
  connect(m_slider, &QSlider::valueChanged, this, &TimeBar::takeSlider);
  showMoment();
}

void TimeBar::setTheme(const Theme& theme) {
  m_theme = theme;
  showMoment();
}

void TimeBar::setLength(double seconds) {
  m_length = std::max(0.0, seconds);
  if (m_moment && *m_moment > m_length) {
    m_moment = m_length;
  }
  showMoment();
}

void TimeBar::setMoment(std::optional<double> seconds) {
  m_moment = seconds;
  if (!seconds) {
    m_player.stop();
  }
  showMoment();
}

void TimeBar::togglePlaying() {
  if (isPlaying()) {
    stopPlaying();
    return;
  }
  m_player.start();
  choose(m_moment.value_or(0.0));
}

void TimeBar::stopPlaying() {
  m_player.stop();
  showMoment();
}

void TimeBar::playOn() {
  const double next = m_moment.value_or(0.0) + m_length / kSteps;
  if (next >= m_length) {
    m_player.stop();
    choose(std::nullopt);
    return;
  }
  choose(next);
}

void TimeBar::takeSlider(int position) {
  m_player.stop();
  choose(position < kPositions ? std::optional(m_length * position / kPositions) : std::nullopt);
}

void TimeBar::choose(std::optional<double> seconds) {
  m_moment = seconds;
  showMoment();
  Q_EMIT momentChosen(seconds);
}

void TimeBar::showMoment() {
  const QSignalBlocker silent(m_slider);
  const bool hasRun = m_length > 0.0;
  const double share = m_moment && hasRun ? *m_moment / m_length : 1.0;
  m_slider->setValue(static_cast<int>(std::lround(share * kPositions)));
  m_slider->setEnabled(hasRun);
  m_play->setEnabled(hasRun);
  m_play->setChecked(isPlaying());
  m_play->setIcon(themedIcon(isPlaying() ? u"pause"_s : u"start"_s, m_theme));
  m_text->setText(m_moment ? tr("%1 of %2").arg(formatDuration(*m_moment), formatDuration(m_length)) : tr("Now"));
}

}  // namespace swage::ui
