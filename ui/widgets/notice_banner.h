// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFrame>
#include <QTimer>

#include <deque>
#include <functional>
#include <vector>

#include "core/services/types.h"
#include "ui/widgets/theme.h"

class QHBoxLayout;
class QLabel;
class QPushButton;
class QToolButton;

namespace swage::ui {

// A way out of what a notice says.
struct NoticeAction {
  QString text;
  std::function<void()> run;
};

// Says what happened and what to do, without stopping the user. Shows one notice at a time, the newest; closing it
// brings back the one before. Information goes away by itself, everything else stays until it is closed or cleared. Up
// to two ways out stand beside the text as buttons; taking one leaves the notice where it is. Whoever placed it shows
// and hides it by shownChanged().
class NoticeBanner final : public QFrame {
  Q_OBJECT

 public:
  explicit NoticeBanner(QWidget* parent = nullptr);
  void setTheme(const Theme& theme);
  void showNotice(const services::Notice& notice, std::vector<NoticeAction> actions = {});
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
  struct Entry {
    services::Notice notice;
    std::vector<NoticeAction> actions;
  };
  void refresh();
  void refreshButtons();
  void runAction(std::size_t index);
  void fitHeight();

  Theme m_theme = Theme::light();
  std::deque<Entry> m_notices;
  QLabel* m_icon;
  QLabel* m_text;
  QLabel* m_more;
  std::vector<QPushButton*> m_buttons;
  QToolButton* m_close;
  QTimer m_expiry;
};

}  // namespace swage::ui
