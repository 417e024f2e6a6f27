// SPDX-License-Identifier: Apache-2.0
#include "ui/models/draft_store.h"

#include <gmock/gmock.h>

#include <QAbstractItemModelTester>

#include <filesystem>
#include <fstream>

#include "tests/support/result_matchers.h"
#include "tests/support/temp_dir.h"
#include "ui/models/diagnostic_model.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

TEST(DraftStore, GivesBackWhatItKept) {
  const testing::TempDir folder;
  const DraftStore store(folder / "state" / "drafts");
  EXPECT_FALSE(store.load("project", domain::CandidateId(7)).has_value());
  ASSERT_THAT(store.save("project", domain::CandidateId(7), u"täxt \"1\"\n"_s), testing::IsOk());
  ASSERT_THAT(store.save("other", domain::CandidateId(7), u"other"_s), testing::IsOk());
  const auto draft = store.load("project", domain::CandidateId(7));
  ASSERT_TRUE(draft.has_value());
  EXPECT_EQ(draft->text, u"täxt \"1\"\n"_s);
  EXPECT_LT(draft->savedAt.secsTo(QDateTime::currentDateTimeUtc()), 60);
  EXPECT_FALSE(store.load("project", domain::CandidateId(8)).has_value());
  store.remove("project", domain::CandidateId(7));
  EXPECT_FALSE(store.load("project", domain::CandidateId(7)).has_value());
  EXPECT_EQ(store.load("other", domain::CandidateId(7))->text, u"other"_s);
}

TEST(DraftStore, TakesADamagedFileForNone) {
  const testing::TempDir folder;
  const DraftStore store(folder.path());
  ASSERT_THAT(store.save("project", domain::CandidateId(1), u"text"_s), testing::IsOk());
  for (const auto& file : std::filesystem::directory_iterator(folder.path())) {
    std::ofstream(file.path()) << "{\"text\": 3";
  }
  EXPECT_FALSE(store.load("project", domain::CandidateId(1)).has_value());
}

TEST(DraftStore, SaysWhereItCannotWrite) {
  const testing::TempDir folder;
  std::ofstream(folder / "file") << "no folder";
  const DraftStore store(folder / "file");
  EXPECT_THAT(store.save("project", domain::CandidateId(1), u"text"_s),
              testing::IsError(ErrorKind::Io, ::testing::HasSubstr("cannot keep the draft")));
}

TEST(DraftStore, KeepsNothingWithoutAFolder) {
  const DraftStore store({});
  EXPECT_THAT(store.save("project", domain::CandidateId(1), u"text"_s), testing::IsOk());
  EXPECT_FALSE(store.load("project", domain::CandidateId(1)).has_value());
}

TEST(DiagnosticModel, ShowsKindPlaceAndMessage) {
  DiagnosticModel model;
  const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
  using Severity = domain::Diagnostic::Severity;
  model.setRows({{Severity::Error, 0, 0, 0, "line 30 of the PTX", "no", {}},
                 {Severity::Warning, 4, 7, 3, {}, "unused", "-Wunused"},
                 {Severity::Note, 9, 0, 0, {}, "here", {}}});
  QStringList cells;
  for (int row = 0; row < model.rowCount(); ++row) {
    for (int column = 0; column < model.columnCount(); ++column) {
      cells.push_back(model.index(row, column).data().toString());
    }
  }
  EXPECT_EQ(cells, (QStringList{u"Error"_s, u"line 30 of the PTX"_s, u"no"_s, u"Warning"_s, u"4:7"_s,
                                u"unused [-Wunused]"_s, u"Note"_s, u"9"_s, u"here"_s}));
  EXPECT_EQ(model.nextWithLine(-1, 1), 1);
  EXPECT_EQ(model.nextWithLine(2, 1), 1) << "around the end, past what has no line";
  EXPECT_EQ(model.nextWithLine(1, -1), 2);
  model.setRows({{Severity::Error, 0, 0, 0, {}, "no", {}}});
  EXPECT_EQ(model.nextWithLine(-1, 1), -1);
}

}  // namespace
}  // namespace swage::ui
