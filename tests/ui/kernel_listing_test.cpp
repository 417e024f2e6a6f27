// SPDX-License-Identifier: Apache-2.0
// Assembly and SASS beside the source on the page of a kernel.
#include <gmock/gmock.h>

#include <QAction>
#include <QLabel>

#include "tests/ui/kernel_page_fixture.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

domain::Profile profileOf() {
  domain::Profile profile;
  domain::KernelProfile kernel;
  kernel.entry = "k";
  kernel.instructions = {{0, "LDG.E R2, [R4.64] ;", 2, 30, {{"long_scoreboard", 24.0}, {"wait", 6.0}}},
                         {16, "FADD R2, R2, R3 ;", 2, 10, {}},
                         {32, "EXIT ;", 3, 0, {}}};
  profile.kernels = {kernel};
  return profile;
}

TEST_F(KernelPageTest, TheCaretMarksItsCounterparts) {
  open();
  KernelView& source = view(u"sourceView"_s);
  KernelView& assembly = view(u"assemblyView"_s);
  source.setFocus();
  press(Qt::Key_Down);
  EXPECT_TRUE(links(assembly, {2}));
  press(Qt::Key_Down);
  EXPECT_TRUE(links(assembly, {3}));
  assembly.setFocus();
  for (int i = 0; i < 2; ++i) {
    QTest::keyClick(assembly.focusProxy(), Qt::Key_Down);
  }
  EXPECT_TRUE(links(source, {1}));
}

TEST_F(KernelPageTest, TheMouseMarksTheCounterpartsOfItsLine) {
  open();
  Q_EMIT view(u"assemblyView"_s).lineHovered(3);
  EXPECT_THAT(view(u"sourceView"_s).marks().linkedLines(), ElementsAre(2));
  Q_EMIT view(u"assemblyView"_s).lineHovered(-1);
  EXPECT_THAT(view(u"sourceView"_s).marks().linkedLines(), IsEmpty());
}

TEST_F(KernelPageTest, SaysWhereLineInformationIsMissing) {
  prepared.assembly = "0000 <k>:\n  5:\tret\n";
  open();
  EXPECT_EQ(child<QLabel>(u"assemblyViewNote"_s)->text(), u"no line information"_s);
  prepared.assembly = kPtx;
  session->selectCandidate(second());
  EXPECT_EQ(child<QLabel>(u"assemblyViewNote"_s)->text(), QString());
}

TEST_F(KernelPageTest, AProfileBringsSassAndHeat) {
  record.makeProfile = [](domain::CandidateId) { return profileOf(); };
  open();
  EXPECT_EQ(view(u"sassView"_s).text(),
            u"k:\n  /*0000*/  LDG.E R2, [R4.64] ;\n  /*0010*/  FADD R2, R2, R3 ;\n  /*0020*/  EXIT ;"_s);
  const auto& heat = view(u"sourceView"_s).marks().heat();
  ASSERT_EQ(heat.size(), 1U);
  EXPECT_EQ(heat[0].line, 1);
  EXPECT_DOUBLE_EQ(heat[0].share, 1.0);
  EXPECT_EQ(heat[0].tooltip, u"40 samples\n60 % long_scoreboard\n15 % wait"_s);
  EXPECT_EQ(child<QLabel>(u"sourceViewNote"_s)->text(), u"40 samples"_s);
  view(u"sourceView"_s).setFocus();
  press(Qt::Key_F8, Qt::ControlModifier);
  EXPECT_EQ(view(u"sourceView"_s).caretLine(), 1);
  EXPECT_TRUE(links(view(u"sassView"_s), {1, 2}));
}

TEST_F(KernelPageTest, ControlCodesStandBesideSassWhereTheyAreKnown) {
  domain::Profile profile = profileOf();
  record.makeProfile = [&profile](domain::CandidateId) { return profile; };
  open();
  auto* show = child<QAction>(u"listing_controlCodes"_s);
  EXPECT_FALSE(show->isEnabled());
  const QString without = view(u"sassView"_s).text();
  profile.kernels[0].instructions[0].control = 0x752;
  profile.kernels[0].instructions[1].control = 0x27e5;
  session->selectCandidate(second());
  EXPECT_EQ(view(u"sassView"_s).text(), without);
  ASSERT_TRUE(show->isEnabled());
  show->trigger();
  EXPECT_EQ(view(u"sassView"_s).text(),
            u"k:\n"
            "  /*0000*/  /*B------:R-:W2:-:S02*/  LDG.E R2, [R4.64] ;\n"
            "  /*0010*/  /*B--2---:R-:W-:Y:S05*/  FADD R2, R2, R3 ;\n"
            "  /*0020*/  /*                   */  EXIT ;"_s);
}

TEST_F(KernelPageTest, WhatOfAListingIsShownCanBeChosenAndIsRemembered) {
  open();
  EXPECT_FALSE(view(u"assemblyView"_s).text().contains(u".loc"_s));
  child<QAction>(u"listing_places"_s)->trigger();
  EXPECT_TRUE(view(u"assemblyView"_s).text().contains(u".loc"_s));
  const QJsonObject state = page->saveState();
  page.reset();
  open();
  EXPECT_FALSE(view(u"assemblyView"_s).text().contains(u".loc"_s));
  page->restoreState(state);
  EXPECT_TRUE(view(u"assemblyView"_s).text().contains(u".loc"_s));
}

}  // namespace
}  // namespace swage::ui
