// SPDX-License-Identifier: Apache-2.0
#include "ui/models/text_diff.h"

#include <gmock/gmock.h>

#include <QElapsedTimer>

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// "2,1 -> 2,3": from line 2 on, one line became three; counted from 1 as a person does. "(...)" is ignored.
std::vector<std::string> hunks(const TextDiff& diff) {
  std::vector<std::string> texts;
  for (const DiffChunk& chunk : diff.chunks) {
    const std::string text = std::to_string(chunk.left.first + 1) + "," + std::to_string(chunk.left.count) + " -> " +
                             std::to_string(chunk.right.first + 1) + "," + std::to_string(chunk.right.count);
    texts.push_back(chunk.isIgnored ? "(" + text + ")" : text);
  }
  return texts;
}

std::vector<std::string> words(const QString& text, const std::vector<InlineMark>& marks) {
  std::vector<std::string> found;
  for (const InlineMark& mark : marks) {
    found.push_back(linesOf(text)[mark.line].mid(mark.column, mark.length).toStdString());
  }
  return found;
}

// As `diff -u` prints it, with all lines around it.
std::string printed(const QString& left, const QString& right, const DiffOptions& options = {}, int context = 3) {
  std::string text;
  for (const UnifiedLine& line :
       unifiedLines(linesOf(left), linesOf(right), diffTexts(left, right, options), context)) {
    const char sign[] = {' ', '-', '+', '@'};
    text += sign[static_cast<int>(line.kind)] + line.text.toStdString() + "\n";
  }
  return text;
}

const QString kOld =
    uR"(__global__ void scale(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    x[i] = x[i] * 2.0f;
  }
}
)"_s;

const QString kNew =
    uR"(__global__ void scale(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int step = gridDim.x * blockDim.x;
  for (; i < n; i += step) {
    x[i] = x[i] * 3.0f;  // thrice
  }
}
)"_s;

TEST(TextDiff, FindsChangedInsertedAndDeletedLines) {
  EXPECT_THAT(hunks(diffTexts(kOld, kNew)), ElementsAre("3,2 -> 3,3"));
  EXPECT_THAT(hunks(diffTexts(u"a\nb\nc\n"_s, u"a\nc\n"_s)), ElementsAre("2,1 -> 2,0"));
  EXPECT_THAT(hunks(diffTexts(u"a\nc\n"_s, u"a\nb\nc\nd\n"_s)), ElementsAre("2,0 -> 2,1", "3,0 -> 4,1"));
  EXPECT_THAT(hunks(diffTexts(u"b\n"_s, u"a\nb\n"_s)), ElementsAre("1,0 -> 1,1"));
  EXPECT_THAT(hunks(diffTexts(kOld, kOld)), IsEmpty());
}

TEST(TextDiff, AnEmptyTextHasNoLines) {
  EXPECT_THAT(hunks(diffTexts({}, u"a\nb\n"_s)), ElementsAre("1,0 -> 1,2"));
  EXPECT_THAT(hunks(diffTexts(u"a\n"_s, {})), ElementsAre("1,1 -> 1,0"));
  EXPECT_THAT(hunks(diffTexts({}, {})), IsEmpty());
  EXPECT_EQ(linesOf({}), QStringList());
  EXPECT_EQ(linesOf(u"a\n\n"_s), (QStringList{u"a"_s, QString()}));
}

TEST(TextDiff, LineEndsAreNoDifference) {
  EXPECT_THAT(hunks(diffTexts(u"a\nb"_s, u"a\r\nb\r\n"_s)), IsEmpty());
}

TEST(TextDiff, KeepsFunctionsWhole) {
  const QString one = u"void a() {\n  work();\n}\n"_s;
  const QString two = one + u"\nvoid b() {\n  work();\n}\n"_s;
  const QString three = one + u"\nvoid c() {\n  work();\n}\n"_s + u"\nvoid b() {\n  work();\n}\n"_s;
  EXPECT_THAT(hunks(diffTexts(two, three)), ElementsAre("5,0 -> 5,4")) << "the inserted function, not its middle";
}

TEST(TextDiff, MarksTheWordsThatDiffer) {
  const TextDiff diff = diffTexts(u"  x[i] = y[i] * 2.0f;\n"_s, u"  x[i] = z[i] * 2.5f;\n"_s);
  EXPECT_THAT(words(u"  x[i] = y[i] * 2.0f;\n"_s, diff.leftMarks), ElementsAre("y", "0f"));
  EXPECT_THAT(words(u"  x[i] = z[i] * 2.5f;\n"_s, diff.rightMarks), ElementsAre("z", "5f"));
}

TEST(TextDiff, MarksAreOnTheLinesTheyBelongTo) {
  const TextDiff diff = diffTexts(kOld, kNew);
  EXPECT_THAT(words(kNew, diff.rightMarks), ::testing::Contains("// thrice"));
  for (const InlineMark& mark : diff.rightMarks) {
    EXPECT_GE(mark.line, 2);
    EXPECT_LT(mark.line, 5);
  }
}

TEST(TextDiff, WordsBesideEachOtherAreOneMark) {
  const TextDiff diff = diffTexts(u"a = f(x);\n"_s, u"a = f(x) + g(y);\n"_s);
  EXPECT_THAT(diff.leftMarks, IsEmpty());
  EXPECT_THAT(words(u"a = f(x) + g(y);\n"_s, diff.rightMarks), ElementsAre("+ g(y)"));
}

TEST(TextDiff, CanIgnoreWhiteSpace) {
  const QString spaced = u"a  = 1;\n\tb=2;\n"_s;
  const QString plain = u"a = 1;\nb=2;\n"_s;
  EXPECT_THAT(hunks(diffTexts(spaced, plain)), ElementsAre("1,2 -> 1,2"));
  EXPECT_THAT(hunks(diffTexts(spaced, plain, {.ignoreWhiteSpace = true})), IsEmpty());
}

TEST(TextDiff, CanIgnoreComments) {
  const DiffOptions ignore{.ignoreComments = true};
  EXPECT_THAT(hunks(diffTexts(u"a();  // one\n"_s, u"a();  // two\n"_s, ignore)), IsEmpty());
  EXPECT_THAT(hunks(diffTexts(u"a();\n"_s, u"a(); /* b */\n"_s, ignore)), IsEmpty());
  EXPECT_THAT(hunks(diffTexts(u"/* a\n b */ f();\n"_s, u"/* a\n c */ f();\n"_s, ignore)), IsEmpty());
  EXPECT_THAT(hunks(diffTexts(u"f(\"// a\");\n"_s, u"f(\"// b\");\n"_s, ignore)), ElementsAre("1,1 -> 1,1"))
      << "in quotes it is no comment";
  EXPECT_THAT(hunks(diffTexts(u"f(\"\\\"\"); // a\n"_s, u"f(\"\\\"\"); // b\n"_s, ignore)), IsEmpty());
}

TEST(TextDiff, ALineWithOnlyACommentKeepsItsPlaceAndIsNotCounted) {
  const TextDiff diff = diffTexts(u"a();\nb();\n"_s, u"a();\n// why\nb();\nc();\n"_s, {.ignoreComments = true});
  EXPECT_THAT(hunks(diff), ElementsAre("(2,0 -> 2,1)", "3,0 -> 4,1"));
  EXPECT_EQ(diff.changeCount(), 1);
  EXPECT_EQ(nextChunk(diff, DiffSide::Left, 0), 1);
  EXPECT_EQ(chunkAt(diff, DiffSide::Right, 1), -1);
}

TEST(TextDiff, CommentsOfAssemblyBeginWithANumberSign) {
  const DiffOptions assembly{.ignoreComments = true, .comments = CommentSyntax::Assembly};
  const DiffOptions c{.ignoreComments = true};
  EXPECT_THAT(hunks(diffTexts(u"ret # 1\n"_s, u"ret # 2\n"_s, assembly)), IsEmpty());
  EXPECT_THAT(hunks(diffTexts(u"#define A 1\n"_s, u"#define A 2\n"_s, c)), ElementsAre("1,1 -> 1,1"));
}

TEST(TextDiff, MapsLinesThroughItsChunks) {
  const TextDiff diff = diffTexts(kOld, kNew);
  EXPECT_DOUBLE_EQ(mapLine(diff, DiffSide::Left, 1.0), 1.0);
  EXPECT_DOUBLE_EQ(mapLine(diff, DiffSide::Left, 3.0), 3.5) << "half of two lines is half of three";
  EXPECT_DOUBLE_EQ(mapLine(diff, DiffSide::Left, 4.0), 5.0);
  EXPECT_DOUBLE_EQ(mapLine(diff, DiffSide::Right, 5.0), 4.0);
  const TextDiff inserted = diffTexts(u"a\n"_s, u"x\ny\na\n"_s);
  EXPECT_DOUBLE_EQ(mapLine(inserted, DiffSide::Left, 0.0), 2.0);
  EXPECT_DOUBLE_EQ(mapLine(inserted, DiffSide::Right, 1.0), 0.0);
}

TEST(TextDiff, GoesFromChunkToChunk) {
  const TextDiff diff = diffTexts(u"a\nb\nc\nd\ne\n"_s, u"a\nB\nc\ne\n"_s);
  ASSERT_THAT(hunks(diff), ElementsAre("2,1 -> 2,1", "4,1 -> 4,0"));
  EXPECT_EQ(nextChunk(diff, DiffSide::Left, 0), 0);
  EXPECT_EQ(nextChunk(diff, DiffSide::Left, 1), 1);
  EXPECT_EQ(nextChunk(diff, DiffSide::Left, 3), -1);
  EXPECT_EQ(previousChunk(diff, DiffSide::Left, 4), 1);
  EXPECT_EQ(previousChunk(diff, DiffSide::Left, 3), 0);
  EXPECT_EQ(previousChunk(diff, DiffSide::Left, 1), -1);
  EXPECT_EQ(chunkAt(diff, DiffSide::Right, 3), 1) << "deleted lines are met on the line after them";
}

TEST(TextDiff, PushesAChunkToTheOtherSide) {
  const QString left = u"a\nb\nc\n"_s;
  const QString right = u"a\nB1\nB2\nc\n"_s;
  const DiffChunk chunk = diffTexts(left, right).chunks.front();
  EXPECT_EQ(pushChunk(left, right, chunk, DiffSide::Left), left);
  EXPECT_EQ(pushChunk(right, left, chunk, DiffSide::Right), right);
  EXPECT_EQ(deleteChunk(right, chunk, DiffSide::Right), u"a\nc\n"_s);
}

TEST(TextDiff, EveryChunkPushedMakesTheSidesEqual) {
  QString target = kNew;
  for (TextDiff diff = diffTexts(kOld, target); !diff.chunks.empty(); diff = diffTexts(kOld, target)) {
    target = pushChunk(kOld, target, diff.chunks.front(), DiffSide::Left);
  }
  EXPECT_EQ(target, kOld);
}

TEST(TextDiff, PrintsBothInOne) {
  EXPECT_EQ(printed(kOld, kNew, {}, 1), R"(@
   int i = blockIdx.x * blockDim.x + threadIdx.x;
-  if (i < n) {
-    x[i] = x[i] * 2.0f;
+  const int step = gridDim.x * blockDim.x;
+  for (; i < n; i += step) {
+    x[i] = x[i] * 3.0f;  // thrice
   }
@
)");
  EXPECT_EQ(printed(kOld, kOld, {}, 1), "@\n");
  EXPECT_EQ(printed(u"a\n"_s, u"a\n// b\n"_s, {.ignoreComments = true}), " a\n // b\n");
}

TEST(TextDiff, UnifiedLinesKnowTheirNumbersOnBothSides) {
  const auto lines =
      unifiedLines({u"a"_s, u"c"_s}, {u"a"_s, u"b"_s, u"c"_s}, diffTexts(u"a\nc\n"_s, u"a\nb\nc\n"_s), 3);
  using Kind = UnifiedLine::Kind;
  EXPECT_THAT(lines, ElementsAre(UnifiedLine{Kind::Both, 0, 0, u"a"_s}, UnifiedLine{Kind::RightOnly, -1, 1, u"b"_s},
                                 UnifiedLine{Kind::Both, 1, 2, u"c"_s}));
}

TEST(TextDiff, GoesFromBlockToBlockOfBothInOne) {
  const QString left = u"a\nb\nc\nd\n"_s;
  const QString right = u"A\nb\nc\nD1\nD2\n"_s;
  const auto lines = unifiedLines(linesOf(left), linesOf(right), diffTexts(left, right), 3);
  ASSERT_EQ(printed(left, right, {}, 3), "-a\n+A\n b\n c\n-d\n+D1\n+D2\n");
  EXPECT_EQ(nextBlock(lines, -1), 0);
  EXPECT_EQ(nextBlock(lines, 0), 4) << "the two lines of a change are one block";
  EXPECT_EQ(nextBlock(lines, 4), -1);
  EXPECT_EQ(previousBlock(lines, 6), 4);
  EXPECT_EQ(previousBlock(lines, 4), 0);
  EXPECT_EQ(previousBlock(lines, 0), -1);
  EXPECT_EQ(previousBlock(lines, 100), 4);
  EXPECT_EQ(nextBlock({}, -1), -1);
  EXPECT_EQ(previousBlock({}, 3), -1);
}

TEST(TextDiff, FindsWhatBothChangedOfTheirAncestor) {
  const QString base = u"a\nb\nc\nd\n"_s;
  const TextDiff toBase = diffTexts(u"a\nB\nc\nd\n"_s, base);
  EXPECT_THAT(conflicts(toBase, diffTexts(base, u"a\nb2\nc\nd\n"_s)), ElementsAre(LineRange{1, 1}));
  EXPECT_THAT(conflicts(toBase, diffTexts(base, u"a\nb\nc\nD\n"_s)), IsEmpty());
}

TEST(TextDiff, LongTextsTakeMilliseconds) {
  QString left;
  QString right;
  for (int i = 0; i < 20'000; ++i) {
    left += u"  ld.global.f32 %f%1, [%rd%2];\n"_s.arg(i).arg(i % 7);
    right += u"  ld.global.f32 %f%1, [%rd%2];\n"_s.arg(i).arg(i % 50 == 0 ? 9 : i % 7);
  }
  QElapsedTimer clock;
  clock.start();
  EXPECT_GE(diffTexts(left, right).changeCount(), 390);
  EXPECT_LT(clock.elapsed(), 2000) << "generous: it is about 30 ms";
}

const DiffOptions kListing = {.comments = CommentSyntax::Assembly, .ignoreAddresses = true};

TEST(AssemblyDiff, ALoopThatMovedIsTheSame) {
  const QString left =
      u"0000000000001120 <k>:\n    1120:\tlea    rdi,[rip+0x3f91]        # 5008 <x>\n    1127:\tjne    1120 <k+0x10>\n"
      "    1129:\tcall   1050 <expf@plt>\n"_s;
  const QString right =
      u"0000000000001f40 <k>:\n    1f40:\tlea    rdi,[rip+0x2f71]        # 4f08 <x>\n    1f47:\tjne    1f40 <k+0x120>\n"
      "    1f49:\tcall   10f0 <expf@plt>\n"_s;
  EXPECT_THAT(hunks(diffTexts(left, right, kListing)), IsEmpty());
  EXPECT_EQ(hunks(diffTexts(left, right)).size(), 1U) << "who wants to see addresses does";
}

TEST(AssemblyDiff, AnotherInstructionTargetOrOperandIsAChange) {
  EXPECT_EQ(hunks(diffTexts(u"    1:\tadd    eax,ebx\n"_s, u"    1:\tsub    eax,ebx\n"_s, kListing)).size(), 1U);
  EXPECT_EQ(hunks(diffTexts(u"    1:\tcall   10 <f>\n"_s, u"    1:\tcall   10 <g>\n"_s, kListing)).size(), 1U);
  EXPECT_EQ(hunks(diffTexts(u"    1:\tmov    eax,0x10\n"_s, u"    1:\tmov    eax,0x20\n"_s, kListing)).size(), 1U);
  EXPECT_EQ(
      hunks(diffTexts(u"    1:\tmov    eax,[rsi+0x10]\n"_s, u"    1:\tmov    eax,[rsi+0x20]\n"_s, kListing)).size(),
      1U);
}

TEST(AssemblyDiff, PaddingIsNoChange) {
  const QString left = u"    1:\tret\n"_s;
  const QString right =
      u"    1:\tret\n    2:\tnop    WORD PTR [rax+rax*1+0x0]\n    c:\tdata16 cs nop WORD PTR [rax]\n"_s;
  EXPECT_EQ(diffTexts(left, right, kListing).changeCount(), 0);
}

TEST(AssemblyDiff, LabelsOfPtxAndSassAreTheSameUnderAnotherNumber) {
  EXPECT_THAT(hunks(diffTexts(u"$L__BB0_2:\n\t@%p1 bra \t$L__BB0_2;\n"_s, u"$L__BB0_14:\n\t@%p1 bra \t$L__BB0_14;\n"_s,
                              kListing)),
              IsEmpty());
  EXPECT_THAT(hunks(diffTexts(u"        /*0010*/  BRA 0x120 ;\n"_s, u"        /*0a10*/  BRA 0xb20 ;\n"_s, kListing)),
              IsEmpty());
  EXPECT_EQ(hunks(diffTexts(u"\tadd.s32 %r1, %r2, 3;\n"_s, u"\tadd.s32 %r1, %r2, 4;\n"_s, kListing)).size(), 1U);
}

TEST(AssemblyDiff, WordsAreMarkedWhereTheyStandInTheRealText) {
  const QString left = u"    1120:\tadd    eax,ebx\n"_s;
  const QString right = u"    1f40:\tadd    eax,ecx\n"_s;
  const TextDiff diff = diffTexts(left, right, kListing);
  EXPECT_THAT(words(left, diff.leftMarks), ElementsAre("ebx"));
  EXPECT_THAT(words(right, diff.rightMarks), ElementsAre("ecx"));
}

}  // namespace
}  // namespace swage::ui
