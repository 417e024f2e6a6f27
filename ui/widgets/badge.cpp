// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/badge.h"

#include <QPainter>

#include "core/domain/record/status.h"

using namespace Qt::StringLiterals;

namespace swage::ui {

Badge::Badge(QWidget* parent) : QLabel(parent) {
  setContentsMargins(8, 2, 8, 2);
  setAlignment(Qt::AlignCenter);
  setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
  hide();
}

void Badge::setTheme(const Theme& theme) {
  m_theme = theme;
  update();
}

void Badge::setBadge(const QString& text, Tone tone) {
  m_tone = tone;
  setText(text);
  setVisible(!text.isEmpty());
  update();
}

void Badge::paintEvent(QPaintEvent*) {
  const QColor color = toneColor(m_tone, m_theme);
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(color, 1.0));
  painter.setBrush(Qt::NoBrush);
  const QRectF frame = QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5);
  painter.drawRoundedRect(frame, frame.height() / 2.0, frame.height() / 2.0);
  painter.drawText(frame, Qt::AlignCenter, text());
}

Badge::Tone toneOfStatus(const QString& status) {
  using domain::CandidateStatus;
  const auto known = domain::parseCandidateStatus(status.toStdString());
  if (!known) {
    return status.isEmpty() ? Badge::Tone::Neutral : Badge::Tone::Bad;
  }
  switch (*known) {
    case CandidateStatus::Pending:
    case CandidateStatus::NotEvaluated: return Badge::Tone::Neutral;
    case CandidateStatus::Correct: return Badge::Tone::Good;
    case CandidateStatus::Duplicate:
    case CandidateStatus::Rejected:
    case CandidateStatus::Unstable: return Badge::Tone::Caution;
    default: return Badge::Tone::Bad;
  }
}

QColor toneColor(Badge::Tone tone, const Theme& theme) {
  switch (tone) {
    case Badge::Tone::Neutral: return theme.mutedText;
    case Badge::Tone::Good: return theme.good;
    case Badge::Tone::Caution: return theme.caution;
    case Badge::Tone::Bad: return theme.bad;
  }
  return theme.text;
}

}  // namespace swage::ui
