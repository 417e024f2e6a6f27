// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QLabel>

#include <cstdint>

#include "ui/widgets/theme.h"

namespace swage::ui {

// A short word in a rounded frame, for a status or an accuracy class. Hidden while it has no text.
class Badge final : public QLabel {
  Q_OBJECT

 public:
  enum class Tone : std::uint8_t { Neutral, Good, Caution, Bad };

  explicit Badge(QWidget* parent = nullptr);
  void setTheme(const Theme& theme);
  void setBadge(const QString& text, Tone tone);
  [[nodiscard]] Tone tone() const { return m_tone; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  Theme m_theme = Theme::light();
  Tone m_tone = Tone::Neutral;
};

// The tone of the word for a domain::CandidateStatus.
[[nodiscard]] Badge::Tone toneOfStatus(const QString& status);
[[nodiscard]] QColor toneColor(Badge::Tone tone, const Theme& theme);

}  // namespace swage::ui
