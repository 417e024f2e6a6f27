// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTimer>
#include <QWidget>

#include <optional>

#include "ui/widgets/theme.h"

class QLabel;
class QSlider;
class QToolButton;

namespace swage::ui {

// A moment of a run, from its start to now: drag, step with the keys, or play from where it stands. The right end is
// now, and stays now while the run grows. GUI thread only.
class TimeBar final : public QWidget {
  Q_OBJECT

 public:
  explicit TimeBar(QWidget* parent = nullptr);

  void setTheme(const Theme& theme);
  // Of the whole run. A chosen moment stays the same moment.
  void setLength(double seconds);
  void setMoment(std::optional<double> seconds);  // nothing: now
  [[nodiscard]] std::optional<double> moment() const { return m_moment; }
  [[nodiscard]] bool isPlaying() const { return m_player.isActive(); }

 public Q_SLOTS:
  void togglePlaying();

 Q_SIGNALS:
  void momentChosen(std::optional<double> seconds);

 private:
  void takeSlider(int position);
  void playOn();
  void stopPlaying();
  void choose(std::optional<double> seconds);
  void showMoment();

  Theme m_theme = Theme::light();
  QToolButton* m_play;
  QSlider* m_slider;
  QLabel* m_text;
  QTimer m_player;
  double m_length = 0.0;
  std::optional<double> m_moment;
};

}  // namespace swage::ui
