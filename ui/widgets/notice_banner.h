// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFrame>
#include <QTimer>

#include <deque>

#include "core/services/types.h"
#include "ui/widgets/theme.h"

class QLabel;
class QToolButton;

namespace swage::ui {

// Says what happened and what to do, without stopping the user. Shows one notice at a time, the newest; closing it
// brings back the one before. Information goes away by itself. Whoever placed it shows and hides it by shownChanged().
class NoticeBanner final : public QFrame {
  Q_OBJECT

 public:
  explicit NoticeBanner(QWidget* parent = nullptr);
  void setTheme(const Theme& theme);
  void showNotice(const services::Notice& notice);
  void dismiss();
  void clear();
  [[nodiscard]] bool hasNotice() const { return !m_notices.empty(); }
  [[nodiscard]] QString text() const;

 Q_SIGNALS:
  void shownChanged(bool shown);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void refresh();
  void fitHeight();

  Theme m_theme = Theme::light();
  std::deque<services::Notice> m_notices;
  QLabel* m_icon;
  QLabel* m_text;
  QLabel* m_more;
  QToolButton* m_close;
  QTimer m_expiry;
};

}  // namespace swage::ui
