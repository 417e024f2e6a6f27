// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>
#include <QToolButton>

#include <algorithm>

#include "tests/support/wait_for.h"
#include "ui/editor/assembly_lexer.h"
#include "ui/editor/editor_marks.h"
#include "ui/editor/kernel_view.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

using ::testing::ElementsAre;

// "o" for opcode, "r" for register …: one letter for each character.
std::string styled(AssemblyDialect dialect, std::string_view line) {
  std::string letters;
  for (const AssemblySpan& span : styleAssembly(dialect, line)) {
    letters.append(span.length, " cdlorns"[static_cast<std::size_t>(span.style)]);
  }
  return letters;
}

TEST(AssemblyLexer, KnowsPtx) {
  EXPECT_EQ(styled(AssemblyDialect::Ptx, "\t@%p1 ld.global.f32 \t%f1, [%rd6+4]; // x"),
            " rrrr ooooooooooooo  rrr   rrrr n   cccc");
  EXPECT_EQ(styled(AssemblyDialect::Ptx, ".reg .f32 \t%f<19>;"), "dddd dddd  rr nn  ");
  EXPECT_EQ(styled(AssemblyDialect::Ptx, "$L__BB0_2:"), "llllllllll");
  EXPECT_EQ(styled(AssemblyDialect::Ptx, ".file 1 \"a b\""), "ddddd n sssss");
}

TEST(AssemblyLexer, KnowsSass) {
  EXPECT_EQ(styled(AssemblyDialect::Sass, "  /*0010*/  @!P0 LDG.E R2, [R4.64+0x10] ;"),
            "  cccccccc  rrrr ooooo rr   rrrrr nnnn   ");
}

TEST(AssemblyLexer, KnowsListingsOfObjdump) {
  EXPECT_EQ(styled(AssemblyDialect::X86, "    1120:\tvmovups ymm0,YMMWORD PTR [rdi+rax*1]"),
            "    ccccc ooooooo rrrr              rrr rrr n ");
  EXPECT_EQ(styled(AssemblyDialect::X86, "0000000000001120 <k>:"), "lllllllllllllllllllll");
  EXPECT_EQ(styled(AssemblyDialect::X86, "/in/source.cpp:12"), "ccccccccccccccccc");
  EXPECT_EQ(styled(AssemblyDialect::X86, "  5:\tmov r10d,k1 # 3 <k>"), "  cc ooo rrrr rr ccccccc");
}

TEST(AssemblyLexer, CoversEveryLineWhateverItHolds) {
  for (const char* line : {"", " ", "\"", "/*", "@", "%", ".", "\xC3\xA4 x", "a:", "::", ";;", "*/ //"}) {
    for (const auto dialect : {AssemblyDialect::Ptx, AssemblyDialect::Sass, AssemblyDialect::X86}) {
      EXPECT_EQ(styled(dialect, line).size(), std::string_view(line).size()) << line;
    }
  }
}

class EditorTest : public ::testing::Test {
 protected:
  EditorTest() {
    view.resize(600, 300);
    view.show();
    view.setText(u"float x = 1;\nfloat y = 22;\nreturn x;\n"_s);
    view.activateWindow();
    EXPECT_TRUE(QTest::qWaitForWindowActive(&view));
    view.setFocus();
  }
  void type(const QString& text) { QTest::keyClicks(view.focusProxy(), text); }
  void press(Qt::Key key, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
    QTest::keyClick(view.focusProxy(), key, modifiers);
  }

  KernelView view{KernelView::Language::Cpp};
};

TEST_F(EditorTest, TheFirstKeyMakesARecordedTextTheUsersOwn) {
  const QSignalSpy edited(&view, &KernelView::edited);
  view.setEditing(KernelView::Editing::OnFirstKey);
  EXPECT_EQ(edited.count(), 0);
  type(u"a"_s);
  EXPECT_EQ(view.editing(), KernelView::Editing::Now);
  EXPECT_TRUE(view.text().startsWith(u"afloat"_s));
  EXPECT_EQ(edited.count(), 1);
  press(Qt::Key_Z, Qt::ControlModifier);
  EXPECT_TRUE(view.text().startsWith(u"float"_s));
}

TEST_F(EditorTest, ARecordedTextStaysAsItIs) {
  const QSignalSpy edited(&view, &KernelView::edited);
  type(u"a"_s);
  press(Qt::Key_Delete);
  EXPECT_TRUE(view.text().startsWith(u"float x"_s));
  EXPECT_EQ(edited.count(), 0);
}

TEST_F(EditorTest, SettingATextIsNoEditAndCannotBeUndone) {
  const QSignalSpy edited(&view, &KernelView::edited);
  view.setEditing(KernelView::Editing::Now);
  view.setText(u"other"_s);
  EXPECT_EQ(edited.count(), 0);
  EXPECT_FALSE(view.canUndo());
}

TEST_F(EditorTest, ReplacesAllByARegularExpression) {
  view.setEditing(KernelView::Editing::Now);
  view.openReplace();
  view.findChild<QToolButton*>(u"findRegexp"_s)->setChecked(true);
  auto* find = view.findChild<QLineEdit*>(u"findText"_s);
  find->clear();
  QTest::keyClicks(find, u"float ([xy])"_s);
  QTest::keyClicks(view.findChild<QLineEdit*>(u"replaceText"_s), u"half \\1"_s);
  QTest::mouseClick(view.findChild<QPushButton*>(u"replaceAll"_s), Qt::LeftButton);
  EXPECT_EQ(view.text(), u"half x = 1;\nhalf y = 22;\nreturn x;\n"_s);
  EXPECT_EQ(view.findChild<QLabel*>(u"findResult"_s)->text(), u"2 replaced"_s);
}

TEST_F(EditorTest, ReplacingWhatContainsItselfEnds) {
  view.setEditing(KernelView::Editing::Now);
  view.openReplace();
  auto* find = view.findChild<QLineEdit*>(u"findText"_s);
  find->clear();
  QTest::keyClicks(find, u"x"_s);
  QTest::keyClicks(view.findChild<QLineEdit*>(u"replaceText"_s), u"xx"_s);
  QTest::mouseClick(view.findChild<QPushButton*>(u"replaceAll"_s), Qt::LeftButton);
  EXPECT_EQ(view.text(), u"float xx = 1;\nfloat y = 22;\nreturn xx;\n"_s);
}

TEST_F(EditorTest, AnIncompleteRegularExpressionFindsNothing) {
  view.openFind();
  view.findChild<QToolButton*>(u"findRegexp"_s)->setChecked(true);
  QTest::keyClicks(view.findChild<QLineEdit*>(u"findText"_s), u"(x"_s);
  EXPECT_EQ(view.findChild<QLabel*>(u"findResult"_s)->text(), u"not found"_s);
}

TEST_F(EditorTest, GoesToALine) {
  press(Qt::Key_L, Qt::ControlModifier);
  auto* line = view.findChild<QLineEdit*>(u"findText"_s);
  ASSERT_TRUE(line->isVisible());
  QTest::keyClicks(line, u"3"_s);
  QTest::keyClick(line, Qt::Key_Return);
  EXPECT_EQ(view.caretLine(), 2);
  EXPECT_FALSE(line->isVisible());
}

TEST_F(EditorTest, TypesAtSeveralCarets) {
  view.setEditing(KernelView::Editing::Now);
  view.openFind();
  QTest::keyClicks(view.findChild<QLineEdit*>(u"findText"_s), u"float"_s);
  QTest::keyClick(view.findChild<QLineEdit*>(u"findText"_s), Qt::Key_Escape);
  press(Qt::Key_D, Qt::ControlModifier);
  type(u"int"_s);
  EXPECT_EQ(view.text(), u"int x = 1;\nint y = 22;\nreturn x;\n"_s);
}

TEST_F(EditorTest, SaysWhereTheCaretAndTheMouseAre) {
  const QSignalSpy caret(&view, &KernelView::caretLineChanged);
  const QSignalSpy mouse(&view, &KernelView::lineHovered);
  press(Qt::Key_Down);
  ASSERT_TRUE(testing::waitFor([&caret] { return caret.count() == 1; }));
  EXPECT_EQ(caret.front().front().toInt(), 1);
  auto* viewport = view.findChild<QWidget*>(u"qt_scrollarea_viewport"_s);
  ASSERT_NE(viewport, nullptr);
  QTest::mouseMove(viewport, QPoint(100, viewport->fontMetrics().height() / 2));
  ASSERT_GE(mouse.count(), 1);
  EXPECT_EQ(mouse.back().front().toInt(), 0);
}

TEST_F(EditorTest, MarksWhatTheCompilerSaid) {
  using Severity = domain::Diagnostic::Severity;
  view.setDiagnostics(
      {{Severity::Error, 2, 11, 1, {}, "bad number", {}}, {Severity::Warning, 99, 0, 0, {}, "far", {}}});
  EXPECT_EQ(view.marks().tooltip(1), u"error: bad number"_s);
  EXPECT_EQ(view.marks().tooltip(0), QString());
  view.setDiagnostics({});
  EXPECT_EQ(view.marks().tooltip(1), QString());
}

TEST_F(EditorTest, GoesFromHotSpotToHotSpot) {
  view.setHeat({{2, 0.7, u"700 samples"_s}, {0, 0.29, {}}, {1, 0.01, {}}});
  view.nextHotSpot();
  EXPECT_EQ(view.caretLine(), 2);
  view.nextHotSpot();
  EXPECT_EQ(view.caretLine(), 0) << "around the end";
  view.previousHotSpot();
  EXPECT_EQ(view.caretLine(), 2);
  EXPECT_EQ(view.marks().tooltip(2), u"700 samples"_s);
  view.setHeat({});
  view.nextHotSpot();
  EXPECT_EQ(view.caretLine(), 2);
}

TEST_F(EditorTest, ShowsEveryLanguageInEveryTheme) {
  for (const auto language : {CodeLanguage::Cuda, CodeLanguage::Cpp, CodeLanguage::Python, CodeLanguage::Ptx,
                              CodeLanguage::Sass, CodeLanguage::X86, CodeLanguage::Plain}) {
    view.setLanguage(language);
    for (const Theme* theme : {&Theme::light(), &Theme::darkTheme()}) {
      view.setTheme(*theme);
      EXPECT_FALSE(view.grab().isNull());
    }
  }
}

TEST_F(EditorTest, LinkedLinesComeIntoViewWhenAsked) {
  view.setText(u"line\n"_s.repeated(500));
  view.setLinkedLines({400, 410}, KernelView::Reveal::No);
  EXPECT_EQ(view.firstVisibleLine(), 0);
  EXPECT_THAT(view.marks().linkedLines(), ElementsAre(400, 410));
  view.setLinkedLines({400, 411}, KernelView::Reveal::Yes);
  EXPECT_GT(view.firstVisibleLine(), 350);
}

TEST_F(EditorTest, ATextComesBackAsItWasLeft) {
  const QString text = u"line\n"_s.repeated(500);
  view.setText(text);
  view.goToLine(300);
  const int top = view.firstVisibleLine();
  view.setText(u"other\n"_s);
  EXPECT_FALSE(view.wasKnown());
  EXPECT_EQ(view.caretLine(), 0);
  view.setText(text);
  EXPECT_TRUE(view.wasKnown());
  EXPECT_EQ(view.caretLine(), 300);
  EXPECT_EQ(view.firstVisibleLine(), top);
}

TEST_F(EditorTest, CompletesWordsOfTheText) {
  view.setText(u"float accumulated = 1;\n\n"_s);
  view.setEditing(KernelView::Editing::Now);
  view.goToLine(1);
  type(u"acc"_s);
  press(Qt::Key_Return);
  EXPECT_EQ(view.text(), u"float accumulated = 1;\naccumulated\n"_s);
}

TEST_F(EditorTest, CompletesTheWordsOfCuda) {
  view.setLanguage(KernelView::Language::Cuda);
  const auto children = view.findChildren<QObject*>();
  const auto words =
      std::find_if(children.begin(), children.end(), [](const QObject* one) { return one->inherits("QsciAPIs"); });
  ASSERT_NE(words, children.end());
  ASSERT_TRUE(QSignalSpy(*words, SIGNAL(apiPreparationFinished())).wait());
  view.setText(QString());
  view.setEditing(KernelView::Editing::Now);
  type(u"__syncthr"_s);
  press(Qt::Key_Return);
  EXPECT_EQ(view.text(), u"__syncthreads"_s);
}

TEST_F(EditorTest, OpensAtTheKernelWithTheCodeBeforeItFolded) {
  QString text = u"// SPDX\n#ifndef SWAGE_PATTERN_COMMON\n#define SWAGE_PATTERN_COMMON\n"_s;
  text += u"int a();\n"_s.repeated(200);
  text += u"#endif\n\n// A helper.\ninline float half(float x) {\n"_s;
  const int inHelper = static_cast<int>(text.count(u'\n'));
  text += u"  return x / 2;\n}\n\n"_s;
  const int kernel = static_cast<int>(text.count(u'\n'));
  text += u"// One row after another.\nextern \"C\" void rows(void** arguments) {\n"_s;
  text += u"  int b;\n"_s.repeated(200) + u"}\n"_s;
  view.setText(text);
  view.reveal(u"rows"_s);
  EXPECT_EQ(view.caretLine(), kernel);
  EXPECT_EQ(view.firstVisibleLine(), kernel);
  EXPECT_TRUE(view.isLineShown(kernel + 2));
  EXPECT_FALSE(view.isLineShown(100));
  EXPECT_FALSE(view.isLineShown(inHelper));
  EXPECT_TRUE(view.isLineShown(inHelper - 1)) << "the head of a helper stays, with its sign to unfold it";
  view.goToLine(100);
  EXPECT_TRUE(view.isLineShown(100)) << "who goes there sees it";
}

TEST_F(EditorTest, MarksWhatDiffersFromTheTextBefore) {
  view.setOriginal(view.text());
  view.setEditing(KernelView::Editing::Now);
  view.goToLine(1);
  type(u"x"_s);
  EXPECT_THAT(view.marks().changes().changed, ElementsAre(1));
  view.setText(u"float x = 1;\nreturn x;\n"_s);
  EXPECT_THAT(view.marks().changes().changed, ::testing::IsEmpty());
  EXPECT_THAT(view.marks().changes().removed, ElementsAre(1));
}

}  // namespace
}  // namespace swage::ui
