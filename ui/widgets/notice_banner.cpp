// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/notice_banner.h"

#include <QAccessible>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QToolButton>

#include <algorithm>
#include <chrono>

#include "ui/models/format.h"
#include "ui/widgets/icons.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

using services::Notice;
using Severity = Notice::Severity;

constexpr std::size_t kMaxNotices = 20;
constexpr std::size_t kMaxActions = 2;
constexpr std::chrono::seconds kInfoLife{8};

struct Look {
  QColor background;
  QColor text;
  QString icon;
};

Look lookOf(Severity severity, const Theme& theme) {
  switch (severity) {
    case Severity::Info: return {theme.infoBanner, theme.infoBannerText, u"info"_s};
    case Severity::Warning: return {theme.warningBanner, theme.warningBannerText, u"warning"_s};
    case Severity::Error: return {theme.errorBanner, theme.errorBannerText, u"error"_s};
  }
  return {};
}

bool isSame(const Notice& a, const Notice& b) {
  return a.severity == b.severity && a.text == b.text && a.hint == b.hint;
}

}  // namespace

NoticeBanner::NoticeBanner(QWidget* parent)
    : QFrame(parent),
      m_icon(new QLabel(this)),
      m_text(new QLabel(this)),
      m_more(new QLabel(this)),
      m_close(new QToolButton(this)) {
  setObjectName(u"noticeBanner"_s);
  m_text->setObjectName(u"noticeText"_s);
  m_text->setWordWrap(true);
  m_text->setTextFormat(Qt::RichText);
  m_text->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  m_text->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
  m_close->setObjectName(u"dismissNotice"_s);
  m_close->setAutoRaise(true);
  m_close->setToolTip(tr("Dismiss"));
  m_close->setAccessibleName(tr("Dismiss this message"));
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(12, 6, 6, 6);
  row->setSpacing(10);
  row->addWidget(m_icon, 0, Qt::AlignVCenter);
  row->addWidget(m_text, 1);
  row->addWidget(m_more);
  for (std::size_t i = 0; i < kMaxActions; ++i) {
    auto* button = new QPushButton(this);
    button->setObjectName(u"noticeAction%1"_s.arg(i + 1));
    button->setAutoDefault(false);
    button->hide();
    row->addWidget(button, 0, Qt::AlignVCenter);
    connect(button, &QPushButton::clicked, this, [this, i] { runAction(i); });
    m_buttons.push_back(button);
  }
  row->addWidget(m_close, 0, Qt::AlignVCenter);
  m_expiry.setSingleShot(true);
  m_expiry.setInterval(kInfoLife);
  connect(m_close, &QToolButton::clicked, this, &NoticeBanner::dismiss);
  connect(&m_expiry, &QTimer::timeout, this, [this] {
    if (!m_notices.empty() && m_notices.back().notice.severity == Severity::Info) {
      dismiss();
    }
  });
}

void NoticeBanner::setTheme(const Theme& theme) {
  m_theme = theme;
  refresh();
}

void NoticeBanner::showNotice(const Notice& notice, std::vector<NoticeAction> actions) {
  // The same thing said again moves to the front instead of filling the queue.
  std::erase_if(m_notices, [&](const Entry& old) { return isSame(old.notice, notice); });
  m_notices.push_back({notice, std::move(actions)});
  if (m_notices.size() > kMaxNotices) {
    m_notices.pop_front();
  }
  refresh();
  QAccessibleEvent event(this, QAccessible::Alert);
  QAccessible::updateAccessibility(&event);
}

void NoticeBanner::dismiss() {
  if (!m_notices.empty()) {
    m_notices.pop_back();
  }
  refresh();
}

void NoticeBanner::clear() {
  m_notices.clear();
  refresh();
}

void NoticeBanner::paintEvent(QPaintEvent*) {
  if (!m_notices.empty()) {
    QPainter(this).fillRect(rect(), lookOf(m_notices.back().notice.severity, m_theme).background);
  }
}

void NoticeBanner::resizeEvent(QResizeEvent* event) {
  QFrame::resizeEvent(event);
  fitHeight();
}

// A tool bar does not ask for the height at a given width, so the banner says it itself. Until it is shown it has no
// width of its own: at the one of a new widget a text needs many lines, for which the window would grow for good.
void NoticeBanner::fitHeight() {
  const int width = isVisible() ? this->width() : window()->width();
  if (const int needed = layout()->heightForWidth(width); needed > 0 && needed != height()) {
    setFixedHeight(needed);
  }
  // A change of height inside a resize event does not reach the layout by itself.
  layout()->setGeometry(rect());
}

QString NoticeBanner::text() const {
  return m_notices.empty() ? QString() : toQString(m_notices.back().notice.text);
}

void NoticeBanner::refresh() {
  m_expiry.stop();
  if (m_notices.empty()) {
    Q_EMIT shownChanged(false);
    return;
  }
  const Notice& notice = m_notices.back().notice;
  const Look look = lookOf(notice.severity, m_theme);
  // The application has a style sheet, and under one a palette of a single widget is not reliable.
  setStyleSheet(u"QLabel{color:%1;}"_s.arg(look.text.name()));
  const int size = fontMetrics().height();
  m_icon->setPixmap(themedIcon(look.icon, look.text, look.text).pixmap(QSize(size, size), devicePixelRatioF()));
  m_close->setIcon(themedIcon(u"close"_s, look.text, look.text));
  QString text = u"<b>"_s % toQString(notice.text).toHtmlEscaped() % u"</b>"_s;
  if (!notice.hint.empty()) {
    text += u"<br>"_s % toQString(notice.hint).toHtmlEscaped().replace(u'\n', u"<br>"_s);
  }
  m_text->setText(text);
  refreshButtons();
  m_more->setVisible(m_notices.size() > 1);
  m_more->setText(tr("%n more", nullptr, static_cast<int>(m_notices.size()) - 1));
  setAccessibleName(toQString(notice.text));
  setAccessibleDescription(toQString(notice.hint));
  fitHeight();
  update();
  Q_EMIT shownChanged(true);
  if (notice.severity == Severity::Info) {
    m_expiry.start();
  }
}

void NoticeBanner::refreshButtons() {
  const std::vector<NoticeAction>& actions = m_notices.back().actions;
  for (std::size_t i = 0; i < m_buttons.size(); ++i) {
    const bool isUsed = i < actions.size();
    m_buttons[i]->setVisible(isUsed);
    m_buttons[i]->setText(isUsed ? actions[i].text : QString());
  }
}

void NoticeBanner::runAction(std::size_t index) {
  if (m_notices.empty() || index >= m_notices.back().actions.size()) {
    return;
  }
  const std::function<void()> run = m_notices.back().actions[index].run;  // it may clear the banner
  run();
}

}  // namespace swage::ui
