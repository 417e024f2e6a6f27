// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <QLineEdit>
#include <QSignalSpy>
#include <QTest>
#include <QWidget>

#include "ui/charts/history_chart.h"
#include "ui/charts/history_series.h"
#include "ui/editor/kernel_view.h"
#include "ui/widgets/elided_label.h"
#include "ui/widgets/flow_layout.h"
#include "ui/widgets/notice_banner.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

std::vector<services::HistoryPoint> steps(int count) {
  std::vector<services::HistoryPoint> history;
  for (int i = 0; i < count; ++i) {
    history.push_back({static_cast<double>(i), domain::Speedup::exactly(1.0 + i), domain::CandidateId(i)});
  }
  return history;
}

TEST(StepLine, HoldsEachValueUntilTheNextOneAndThenUntilNow) {
  EXPECT_EQ(stepLine(steps(3), 5.0), (QList<QPointF>{{0, 1}, {1, 1}, {1, 2}, {2, 2}, {2, 3}, {5, 3}}));
}

TEST(StepLine, IsEmptyWithoutHistory) {
  EXPECT_TRUE(stepLine({}, 5.0).isEmpty());
}

TEST(StepLine, StaysSmallAndKeepsTheBest) {
  const QList<QPointF> line = stepLine(steps(100'000), 100'000.0, &domain::Speedup::value, 800);
  EXPECT_LE(line.size(), 802);
  EXPECT_EQ(line.back(), QPointF(100'000.0, 100'000.0));
  EXPECT_EQ(line.front(), QPointF(0.0, 1.0));
}

TEST(NiceStep, IsOneTwoOrFiveTimesAPowerOfTen) {
  EXPECT_DOUBLE_EQ(niceStep(60.0, 6), 10.0);
  EXPECT_DOUBLE_EQ(niceStep(2.4, 5), 0.5);
  EXPECT_DOUBLE_EQ(niceStep(7000.0, 6), 2000.0);
  EXPECT_DOUBLE_EQ(niceStep(0.0, 6), 1.0);
}

TEST(HistoryChart, DrawsTheStepsItIsGiven) {
  HistoryChart chart;
  chart.resize(400, 240);
  chart.show();
  chart.setHistory(steps(3), 5.0, u"compile 1.21 ms"_s);
  EXPECT_EQ(chart.cornerCount(), 6);
  EXPECT_DOUBLE_EQ(chart.highestValue(), 3.0);
  chart.setHistory({}, 0.0, {});
  EXPECT_EQ(chart.cornerCount(), 0);
}

TEST(KernelView, ShowsTextThatCannotBeChanged) {
  KernelView view(KernelView::Language::Cuda);
  view.show();
  view.setText(u"__global__ void k() {}\n"_s);
  view.setFocus();
  QTest::keyClicks(view.focusProxy(), u"x"_s);
  EXPECT_EQ(view.text(), u"__global__ void k() {}\n"_s);
}

TEST(KernelView, FindsTextForwardBackwardAndAroundTheEnd) {
  KernelView view(KernelView::Language::Plain);
  view.setText(u"alpha beta\nALPHA gamma\n"_s);
  view.show();
  view.openFind();
  auto* edit = view.findChild<QLineEdit*>(u"findText"_s);
  ASSERT_NE(edit, nullptr);
  QTest::keyClicks(edit, u"alpha"_s);
  EXPECT_EQ(view.selectedText(), u"alpha"_s);
  view.findNext();
  EXPECT_EQ(view.selectedText(), u"ALPHA"_s);
  view.findNext();
  EXPECT_EQ(view.selectedText(), u"alpha"_s);
  view.findPrevious();
  EXPECT_EQ(view.selectedText(), u"ALPHA"_s);
}

TEST(KernelView, RevealsALineAndLeavesTheViewWhereThereIsNone) {
  KernelView view(KernelView::Language::Cuda);
  view.resize(400, 200);
  view.show();
  view.setText(u"// prologue\n"_s.repeated(199) + u"\nextern \"C\" void k() {}\n"_s + u"// end\n"_s.repeated(200));
  view.reveal(u"extern \"C\""_s);
  EXPECT_EQ(view.firstVisibleLine(), 200);
  view.reveal(u"no such text"_s);
  EXPECT_EQ(view.firstVisibleLine(), 200);
}

TEST(KernelView, EscapeClosesTheFindBar) {
  KernelView view(KernelView::Language::Plain);
  view.show();
  view.openFind();
  auto* edit = view.findChild<QLineEdit*>(u"findText"_s);
  EXPECT_TRUE(edit->isVisible());
  QTest::keyClick(edit, Qt::Key_Escape);
  EXPECT_FALSE(edit->isVisible());
}

TEST(FlowLayout, GoesOnInFurtherRowsWhereItIsTooNarrow) {
  QWidget page;
  auto* layout = new FlowLayout(&page);
  layout->setContentsMargins(0, 0, 0, 0);
  std::vector<QWidget*> boxes;
  for (int i = 0; i < 3; ++i) {
    boxes.push_back(new QWidget);
    boxes.back()->setFixedSize(100, 20);
    layout->addWidget(boxes.back());
  }
  page.resize(316, 100);
  page.show();
  EXPECT_EQ(layout->sizeHint(), QSize(316, 20));
  EXPECT_EQ(layout->minimumSize(), QSize(100, 20));
  EXPECT_FALSE(layout->hasHeightForWidth()) << "or a scroll area gives the page all the height it would like to have";
  EXPECT_EQ(layout->heightForWidth(316), 20);
  EXPECT_EQ(layout->heightForWidth(315), 44);
  EXPECT_EQ(layout->heightForWidth(100), 68);
  EXPECT_EQ(boxes[2]->pos(), QPoint(216, 0));
  layout->setGeometry(QRect(0, 0, 315, 100));
  EXPECT_EQ(boxes[1]->pos(), QPoint(108, 0));
  EXPECT_EQ(boxes[2]->pos(), QPoint(0, 24));
  EXPECT_EQ(layout->minimumSize(), QSize(100, 44)) << "as high as it is with this width";
  boxes[0]->hide();
  EXPECT_EQ(layout->heightForWidth(208), 20) << "what is hidden takes no place";
}

TEST(FlowLayout, WhatMayGrowFillsItsRow) {
  QWidget page;
  auto* layout = new FlowLayout(&page);
  layout->setContentsMargins(0, 0, 0, 0);
  auto* field = new QLineEdit;
  auto* button = new QWidget;
  button->setFixedSize(50, 20);
  layout->addWidget(field);
  layout->addWidget(button);
  page.resize(500, 60);
  page.show();
  layout->setGeometry(QRect(0, 0, 500, 60));
  EXPECT_EQ(field->width(), 442);
  EXPECT_EQ(button->x(), 450);
  auto* left = new ElidedLabel(Qt::ElideRight);
  left->setFullText(u"a text that is far too long for what is left of this row, and does not begin another one"_s);
  left->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
  layout->addWidget(left);
  left->show();
  field->setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
  const int height = layout->heightForWidth(500);
  layout->setGeometry(QRect(0, 0, 500, 60));
  EXPECT_EQ(left->y() + left->height() / 2, button->y() + button->height() / 2);
  EXPECT_LE(left->geometry().right(), 499);
  EXPECT_LE(height, std::max(20, field->sizeHint().height()));
}

TEST(ElidedLabel, KeepsTheWholeTextInItsTooltip) {
  ElidedLabel label;
  label.show();
  label.setFullText(u"a rather long text that does not fit into the label"_s);
  label.resize(80, 20);
  EXPECT_TRUE(label.text().endsWith(u"…"_s));
  EXPECT_EQ(label.toolTip(), label.fullText());
  label.resize(2000, 20);
  EXPECT_EQ(label.text(), label.fullText());
  EXPECT_EQ(label.toolTip(), QString());
}

services::Notice notice(services::Notice::Severity severity, const char* text) {
  return {severity, text, "do this"};
}

TEST(NoticeBanner, ShowsTheNewestAndComesBackToTheOneBefore) {
  NoticeBanner banner;
  const QSignalSpy shown(&banner, &NoticeBanner::shownChanged);
  banner.showNotice(notice(services::Notice::Severity::Warning, "first"));
  banner.showNotice(notice(services::Notice::Severity::Error, "second"));
  EXPECT_EQ(banner.text(), u"second"_s);
  banner.dismiss();
  EXPECT_EQ(banner.text(), u"first"_s);
  banner.dismiss();
  EXPECT_FALSE(banner.hasNotice());
  EXPECT_FALSE(shown.back().front().toBool());
}

TEST(NoticeBanner, SaysTheSameThingOnce) {
  NoticeBanner banner;
  for (int i = 0; i < 5; ++i) {
    banner.showNotice(notice(services::Notice::Severity::Error, "again"));
  }
  banner.dismiss();
  EXPECT_FALSE(banner.hasNotice());
}

TEST(NoticeBanner, DoesNotReadMessagesAsMarkup) {
  NoticeBanner banner;
  banner.showNotice(notice(services::Notice::Severity::Error, "<img src=x> & more"));
  EXPECT_TRUE(banner.findChild<QLabel*>(u"noticeText"_s)->text().contains(u"&lt;img src=x&gt; &amp; more"_s));
}

}  // namespace
}  // namespace swage::ui
