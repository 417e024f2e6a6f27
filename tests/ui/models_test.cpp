// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <QAbstractItemModelTester>
#include <QSignalSpy>

#include "tests/support/no_warnings.h"
#include "tests/support/wait_for.h"
#include "tests/ui/demo_data.h"
#include "ui/models/candidate_groups.h"
#include "ui/models/candidate_table_model.h"
#include "ui/models/fact_model.h"
#include "ui/models/format.h"
#include "ui/models/plan_model.h"
#include "ui/models/proposer_grid_model.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

using CandidateColumn = CandidateField;
using swage::testing::waitFor;

class CandidateTable : public ::testing::Test {
 protected:
  CandidateTable() { swage::testing::fillDemo(record); }

  [[nodiscard]] QString text(int row, CandidateColumn column) const {
    return model.data(model.index(row, static_cast<int>(column))).toString();
  }
  void sortBy(CandidateColumn column, Qt::SortOrder order) { model.sort(static_cast<int>(column), order); }

  swage::testing::FakeRecordService record;
  CandidateTableModel model{record};
  QAbstractItemModelTester tester{&model, QAbstractItemModelTester::FailureReportingMode::Warning};
};

TEST_F(CandidateTable, IsEmptyBeforeARunIsChosen) {
  EXPECT_EQ(model.rowCount(), 0);
}

TEST_F(CandidateTable, ShowsEveryRowOfItsRun) {
  model.setRun(swage::testing::kDemoRun);
  EXPECT_EQ(model.rowCount(), static_cast<int>(record.rows.size()));
  EXPECT_EQ(text(0, CandidateColumn::Id), u"1"_s);
  EXPECT_EQ(text(700, CandidateColumn::Id), u"701"_s);
}

TEST_F(CandidateTable, AsksOnlyForThePagesThatAreLookedAt) {
  model.setRun(swage::testing::kDemoRun);
  const int before = record.queries;
  EXPECT_EQ(text(300, CandidateColumn::Status), toQString(domain::name(record.rows[300].status)));
  EXPECT_EQ(text(301, CandidateColumn::Status), toQString(domain::name(record.rows[301].status)));
  EXPECT_EQ(record.queries, before + 1);
}

TEST_F(CandidateTable, SortsInTheRecord) {
  model.setRun(swage::testing::kDemoRun);
  sortBy(CandidateColumn::Speedup, Qt::DescendingOrder);
  EXPECT_EQ(model.candidateAt(0), record.points.back().candidate);
}

TEST_F(CandidateTable, FiltersByStatusAndCell) {
  model.setRun(swage::testing::kDemoRun);
  model.setStatusFilter(domain::CandidateStatus::Wrong);
  ASSERT_GT(model.rowCount(), 0);
  EXPECT_EQ(text(0, CandidateColumn::Status), u"wrong"_s);
  model.setStatusFilter(std::nullopt);
  model.setCellFilter(domain::Cell::parse("A1B1C1"));
  ASSERT_GT(model.rowCount(), 0);
  EXPECT_EQ(text(0, CandidateColumn::Cell), u"A1B1C1"_s);
}

TEST_F(CandidateTable, GroupsBeginFoldedWithTheirCountAndTheirBest) {
  model.setRun(swage::testing::kDemoRun);
  sortBy(CandidateColumn::Speedup, Qt::DescendingOrder);
  model.setGrouping(GroupBy::Status);
  ASSERT_TRUE(waitFor([&] { return model.rowCount() > 1; }));  // read in slices of a frame
  ASSERT_LT(model.rowCount(), 12);
  EXPECT_TRUE(model.isHeader(0));
  EXPECT_FALSE(model.candidateAt(0).isValid());
  const auto correct = std::count_if(record.rows.begin(), record.rows.end(),
                                     [](const auto& row) { return row.status == domain::CandidateStatus::Correct; });
  EXPECT_TRUE(text(0, CandidateColumn::Id).startsWith(u"correct · %1 candidates · best "_s.arg(correct)))
      << text(0, CandidateColumn::Id).toStdString();
  const int folded = model.rowCount();
  model.setUnfolded(0, true);
  EXPECT_EQ(model.rowCount(), folded + correct);
  EXPECT_EQ(model.candidateAt(1), record.points.back().candidate) << "members keep the order of the list";
  EXPECT_EQ(text(1, CandidateColumn::Status), u"correct"_s);
  EXPECT_TRUE(model.isHeader(static_cast<int>(correct) + 1));
  EXPECT_EQ(model.ids()->size(), record.rows.size()) << "what is folded away is still listed";
  model.setUnfolded(0, false);
  EXPECT_EQ(model.rowCount(), folded);
  model.setGrouping(GroupBy::Nothing);
  EXPECT_EQ(model.rowCount(), static_cast<int>(record.rows.size()));
}

TEST_F(CandidateTable, GroupsFollowWhatComesIn) {
  model.setRun(swage::testing::kDemoRun);
  model.setGrouping(GroupBy::Cell);
  ASSERT_TRUE(waitFor([&] { return model.rowCount() > 1; }));  // read in slices of a frame
  model.setUnfolded(0, true);
  const int before = model.rowCount();
  services::CandidateRow other = record.rows.front();
  other.id = domain::CandidateId(5000);
  other.cell = domain::Cell::fromIndex(0);
  record.rows.push_back(other);
  model.refresh();
  ASSERT_TRUE(waitFor([&] { return model.rowOf(domain::CandidateId(5000)) >= 1; }));
  EXPECT_TRUE(model.isUnfolded(0));
  EXPECT_GE(model.rowCount(), before);
}

TEST(CandidateGroups, GenerationsAreCountedFromTheFirstOnes) {
  CandidateGroups groups;
  const auto row = [](std::int64_t id, std::vector<domain::CandidateId> parents) {
    services::CandidateRow one;
    one.id = domain::CandidateId(id);
    one.parents = std::move(parents);
    one.status = domain::CandidateStatus::Correct;
    return one;
  };
  const std::vector<domain::CandidateId> listed = {domain::CandidateId(4), domain::CandidateId(3)};
  groups.note(row(3, {domain::CandidateId(1)}));
  groups.note(row(4, {domain::CandidateId(1), domain::CandidateId(3)}));
  EXPECT_THAT(groups.unknown(listed, GroupBy::Generation), ::testing::ElementsAre(domain::CandidateId(1)));
  EXPECT_THAT(groups.unknown(listed, GroupBy::Cell), ::testing::IsEmpty());
  groups.note(row(1, {}));
  const auto found = groups.arrange(listed, GroupBy::Generation);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].name, u"Generation 1"_s);
  EXPECT_THAT(found[0].ids, ::testing::ElementsAre(domain::CandidateId(3)));
  EXPECT_EQ(found[1].name, u"Generation 2"_s);
}

TEST_F(CandidateTable, KeepsASelectionOnItsCandidateWhileRowsArrive) {
  model.setRun(swage::testing::kDemoRun);
  sortBy(CandidateColumn::Speedup, Qt::DescendingOrder);
  const QPersistentModelIndex chosen(model.index(2, 0));
  const domain::CandidateId id = model.candidateAt(2);
  services::CandidateRow faster = record.rows.front();
  faster.id = domain::CandidateId(5000);
  faster.speedup = domain::Speedup::exactly(99.0);
  record.rows.push_back(faster);
  model.refresh();
  EXPECT_TRUE(waitFor([&] { return chosen.row() == 3; })) << "a search that took long is followed by a rest";
  EXPECT_EQ(model.candidateAt(chosen.row()), id);
}

TEST_F(CandidateTable, AddsRowsWithoutAReset) {
  model.setRun(swage::testing::kDemoRun);
  const QSignalSpy resets(&model, &QAbstractItemModel::modelReset);
  const QSignalSpy inserts(&model, &QAbstractItemModel::rowsInserted);
  record.rows.push_back(record.rows.back());
  record.rows.back().id = domain::CandidateId(5000);
  model.refresh();
  ASSERT_TRUE(waitFor([&] { return inserts.size() == 1; }));
  EXPECT_EQ(resets.size(), 0);
  EXPECT_EQ(text(model.rowCount() - 1, CandidateColumn::Id), u"5000"_s);
}

TEST_F(CandidateTable, ReportsAFailingRecordAndKeepsItsRows) {
  model.setRun(swage::testing::kDemoRun);
  const QSignalSpy failures(&model, &CandidateTableModel::failed);
  record.failure = Error(ErrorKind::Storage, "disk I/O error");
  model.refresh();
  ASSERT_TRUE(waitFor([&] { return failures.size() == 1; }));
  EXPECT_EQ(model.rowCount(), static_cast<int>(record.rows.size()));
}

TEST_F(CandidateTable, ReportsABrokenPageOnceAndNotPerCell) {
  model.setRun(swage::testing::kDemoRun);
  const QSignalSpy failures(&model, &CandidateTableModel::failed);
  record.failure = Error(ErrorKind::Storage, "disk I/O error");
  for (int row = 300; row < 320; ++row) {
    EXPECT_EQ(text(row, CandidateColumn::Id), QString());
  }
  EXPECT_EQ(failures.size(), 1);
}

TEST_F(CandidateTable, FailedCandidatesHaveNoTimeAndSayWhyOnHover) {
  model.setRun(swage::testing::kDemoRun);
  model.setStatusFilter(domain::CandidateStatus::Crashed);
  ASSERT_GT(model.rowCount(), 0);
  EXPECT_EQ(text(0, CandidateColumn::Time), QString());
  const QModelIndex status = model.index(0, static_cast<int>(CandidateColumn::Status));
  EXPECT_TRUE(status.data(Qt::ToolTipRole).toString().contains(u"segmentation fault"_s));
}

TEST_F(CandidateTable, AnOperatorIsExplainedOnHover) {
  model.setRun(swage::testing::kDemoRun);
  ASSERT_GT(model.rowCount(), 0);
  const QModelIndex made = model.index(0, static_cast<int>(CandidateColumn::Operator));
  EXPECT_EQ(made.data(Qt::ToolTipRole).toString(),
            operatorMeaning(made.data(Qt::DisplayRole).toString().toStdString()));
  EXPECT_FALSE(made.data(Qt::ToolTipRole).toString().isEmpty());
}

TEST(PlanModel, PrintsEveryKindOfStep) {
  domain::LaunchPlan plan;
  plan.buffers.assign(3, domain::contiguousTensor(domain::ScalarType::Float32, {4, 8}));
  domain::KernelStep kernel;
  kernel.entry = "row_sum";
  kernel.grid = {128, 2, 1};
  kernel.block = {256, 1, 1};
  kernel.dynamicSharedBytes = 4096;
  kernel.arguments = {domain::ValueId(0), domain::Int32{8}, 0.5,
                      domain::tensorMapOf(domain::ValueId(1), plan.buffers[1], {8, 2})};
  domain::AtenStep aten;
  aten.node.op = "aten.relu.default";
  aten.node.args = {{domain::ValueId(1)}};
  aten.node.outputs = {domain::ValueId(2)};
  plan.steps = {domain::ZeroStep{domain::ValueId(1)}, kernel, aten};
  PlanModel model;
  const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Warning);
  model.setRows(planRows(plan));
  QStringList lines;
  for (int row = 0; row < model.rowCount(); ++row) {
    QStringList cells;
    for (int column = 0; column < model.columnCount(); ++column) {
      cells.push_back(model.index(row, column).data().toString());
    }
    lines.push_back(cells.join(u" | "_s));
  }
  EXPECT_EQ(
      lines,
      (QStringList{
          u"1 | zero fill |  |  |  | %1 float32[4, 8]"_s,
          u"2 | kernel | row_sum | 128·2 × 256 | 4,096 | %0 float32[4, 8], 8, 0.5, map of %1 float32[4, 8] in boxes of 2×8"_s,
          u"3 | PyTorch | aten.relu.default |  |  | %1 float32[4, 8] → %2 float32[4, 8]"_s}));
}

TEST(FactModel, TellsTimeAccuracyAndEvidenceOfACorrectCandidate) {
  swage::testing::FakeRecordService record;
  swage::testing::fillDemo(record);
  const auto detail = record.candidate(record.points.back().candidate);
  ASSERT_TRUE(detail);
  const std::vector<Fact> facts = evaluationFacts(*detail);
  const auto value = [&facts](const QString& name) {
    for (const Fact& fact : facts) {
      if (fact.name == name) {
        return fact.value;
      }
    }
    return QString();
  };
  EXPECT_EQ(value(u"Status"_s), u"correct"_s);
  EXPECT_EQ(value(u"Accuracy class"_s), u"fp32"_s);
  EXPECT_TRUE(value(u"Time"_s).contains(u"120 samples"_s));
  EXPECT_TRUE(value(u"Evidence"_s).contains(u"vfmadd231ps zmm × 48"_s));
  EXPECT_EQ(value(u"Pattern row_block"_s), u"nodes 0; lanes = 16, rows_per_task = 4, unroll = 2"_s);
  FactModel model;
  const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Warning);
  model.setRows(facts);
  EXPECT_EQ(model.rowCount(), static_cast<int>(facts.size()));
}

TEST(FactModel, SaysHowThePlanIsLaunched) {
  services::CandidateDetail detail;
  detail.program.plan.steps.assign(12, domain::AtenStep{});
  EXPECT_THAT(evaluationFacts(detail), ::testing::Contains(Fact{u"Launches"_s, u"12"_s}));
  detail.program.plan.isCaptured = true;
  EXPECT_THAT(evaluationFacts(detail), ::testing::Contains(Fact{u"Launches"_s, u"12, as one CUDA graph"_s}));
}

TEST(FactModel, ShowsTheFirstWrongElements) {
  services::CandidateDetail detail;
  detail.row.status = domain::CandidateStatus::Wrong;
  detail.evaluation = domain::Wrong{0, 17, 1.5, 3.0, "error", {}, {}, {{16, {2, 2}, 1.0, 0.0}, {17, {2, 3}, 1.5, 3.0}}};
  EXPECT_THAT(evaluationFacts(detail),
              ::testing::Contains(
                  Fact{u"First wrong elements"_s, u"[2, 2]: expected 1, got 0\n[2, 3]: expected 1.5, got 3"_s}));
}

TEST(FactModel, ShowsTheCompilersMessagesOfACandidateThatDidNotCompile) {
  services::CandidateDetail detail;
  detail.row.status = domain::CandidateStatus::CompileFailed;
  detail.evaluation = domain::CompileFailed{domain::CompileFailureReason::Error, "a.cpp:1: error: no\n"};
  EXPECT_THAT(evaluationFacts(detail), ::testing::Contains(Fact{u"Compiler's messages"_s, u"a.cpp:1: error: no"_s}));
}

}  // namespace
}  // namespace swage::ui
