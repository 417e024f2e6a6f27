// SPDX-License-Identifier: Apache-2.0
#include "ui/models/comparison.h"

#include <gmock/gmock.h>

#include <QAbstractItemModelTester>

#include "tests/support/result_matchers.h"
#include "tests/ui/demo_comparison.h"
#include "tests/ui/demo_data.h"
#include "tests/ui/demo_profile.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

using testing::IsError;
using testing::IsOk;
using ::testing::SizeIs;

class ComparisonTest : public ::testing::Test {
 protected:
  ComparisonTest() {
    testing::fillDemo(m_record);
    m_demo = testing::fillDemoComparison(m_record);
    m_compare.ancestor = m_demo.ancestor;
  }
  [[nodiscard]] Result<Comparison> load() { return loadComparison(m_services, m_demo.left, m_demo.right); }
  static const ComparisonRow& row(const std::vector<ComparisonRow>& rows, const QString& name) {
    const auto found = std::find_if(rows.begin(), rows.end(), [&name](const auto& one) { return one.name == name; });
    EXPECT_NE(found, rows.end()) << name.toStdString();
    return found == rows.end() ? rows.front() : *found;
  }

  testing::FakeRecordService m_record;
  testing::FakeProfileService m_profiles;
  testing::FakeCompareService m_compare;
  ComparisonServices m_services{m_record, m_profiles, m_compare};
  testing::DemoComparison m_demo;
};

TEST_F(ComparisonTest, LoadsBothAndTheAncestorBesideThem) {
  const auto comparison = load();
  ASSERT_THAT(comparison, IsOk());
  EXPECT_EQ(comparison->left.detail.row.id, m_demo.left);
  EXPECT_EQ(comparison->right.detail.row.id, m_demo.right);
  ASSERT_TRUE(comparison->ancestor);
  EXPECT_EQ(comparison->ancestor->detail.row.id, m_demo.ancestor);
  m_compare.ancestor = m_demo.left;
  EXPECT_FALSE(load()->ancestor) << "one of the two is it";
  m_compare.ancestor.reset();
  EXPECT_FALSE(load()->ancestor);
}

TEST_F(ComparisonTest, AnEditHasTheParametersOfItsSource) {
  m_record.makeDetail = [](const services::CandidateRow& row) {
    services::CandidateDetail detail;
    detail.row = row;
    detail.genome.emplace().regions = {{{0}, "row", {{"lanes", 64}}}};
    detail.program.source = "namespace region_0 {\nconstexpr int kLanes = 128;\n}  // namespace region_0\n";
    return detail;
  };
  EXPECT_EQ(load()->right.detail.genome->regions[0].parameters.at("lanes"), 128);
}

TEST_F(ComparisonTest, OfSomethingThatIsNotThereIsAnError) {
  EXPECT_THAT(loadComparison(m_services, m_demo.left, domain::CandidateId(99999)),
              IsError(ErrorKind::NotFound, ::testing::_));
}

TEST_F(ComparisonTest, TimesAreComparedWithTheirIntervals) {
  auto comparison = load().value();
  auto rows = compareMetrics(comparison);
  EXPECT_EQ(row(rows, u"Time"_s).delta.verdict, Verdict::Better);
  EXPECT_EQ(formatDelta(row(rows, u"Time"_s).delta), u"−12 %"_s);
  comparison.right.detail.row.timeNs = comparison.left.detail.row.timeNs * 1.003;
  comparison.right.detail.row.lowNs = comparison.left.detail.row.timeNs * 0.99;
  comparison.right.detail.row.highNs = comparison.left.detail.row.timeNs * 1.01;
  EXPECT_EQ(row(compareMetrics(comparison), u"Time"_s).delta.verdict, Verdict::Undecided);
}

TEST_F(ComparisonTest, EveryRowThatFollowsFromTheTimeHasTheSameVerdict) {
  auto comparison = load().value();
  comparison.right.detail.row.speedup.low = comparison.left.detail.row.speedup.low * 0.5;
  EXPECT_EQ(verdictOf(comparison), Verdict::Undecided) << "faster by the time alone is not surely faster";
  const auto rows = compareMetrics(comparison);
  for (const QString& name : {u"Time"_s, u"Against eager"_s, u"Against the fastest baseline"_s, u"% of roofline"_s}) {
    const Verdict verdict = row(rows, name).delta.verdict;
    EXPECT_TRUE(verdict == Verdict::Undecided || verdict == Verdict::Unknown) << name.toStdString();
  }
}

TEST_F(ComparisonTest, OnOtherDevicesNobodyIsFaster) {
  auto comparison = load().value();
  comparison.right.run.deviceName = "another GPU";
  comparison.right.run.id = domain::RunId(99);
  EXPECT_EQ(verdictOf(comparison), Verdict::Unknown);
  const auto rows = compareMetrics(comparison);
  EXPECT_EQ(row(rows, u"Time"_s).delta.relative, std::nullopt);
  EXPECT_EQ(row(rows, u"Device"_s).right, u"another GPU"_s);
}

TEST_F(ComparisonTest, NumbersThatOnlyOneSideHasAreNotCompared) {
  auto comparison = load().value();
  EXPECT_EQ(row(compareMetrics(comparison), u"Registers per thread"_s).right, u"56"_s);
  comparison.right.detail.row.registers = 0;
  const ComparisonRow registers = row(compareMetrics(comparison), u"Registers per thread"_s);
  EXPECT_EQ(registers.right, u"–"_s);
  EXPECT_EQ(registers.delta.verdict, Verdict::Unknown);
}

TEST_F(ComparisonTest, ProfilesOfBothAreCompared) {
  m_profiles.reports[m_demo.left] = testing::demoReport(m_demo.left);
  m_profiles.reports[m_demo.right] = testing::demoReport(m_demo.right);
  auto& kernels = m_profiles.reports[m_demo.right].diagnosis.kernels;
  kernels[1].traffic = {1e6, 0.0, {}, {}, {}};
  auto rows = compareMetrics(load().value());
  EXPECT_EQ(row(rows, u"Achieved occupancy"_s).left, u"68 %"_s);
  // The second kernel of the left one was not counted, so the sum is not known.
  EXPECT_EQ(row(rows, u"Device memory traffic"_s).left, u"–"_s);
  EXPECT_EQ(row(rows, u"Device memory traffic"_s).right, u"85.4 MB"_s);
}

TEST_F(ComparisonTest, GenomesAreComparedRegionByRegion) {
  const auto rows = compareGenomes(load().value());
  ASSERT_THAT(rows, SizeIs(4));
  EXPECT_EQ(rows[0].name, u"Nodes 0 1: pattern"_s);
  EXPECT_FALSE(rows[0].differs());
  EXPECT_EQ(rows[1].name.trimmed(), u"keep"_s);
  EXPECT_EQ(rows[1].left, u"–"_s);
  EXPECT_EQ(rows[1].right, u"1"_s);
  EXPECT_EQ(rows[2].left, u"8"_s);
  EXPECT_EQ(rows[2].right, u"4"_s);
  EXPECT_EQ(rows[2].ancestor, u"8"_s);
  EXPECT_FALSE(rows[3].differs());
}

TEST_F(ComparisonTest, ARegionThatOneDoesNotHaveIsOnItsSideOnly) {
  Comparison comparison = load().value();
  comparison.right.detail.genome->regions.front().nodes = {0};
  const auto rows = compareGenomes(comparison);
  EXPECT_EQ(rows[0].name, u"Nodes 0: pattern"_s);
  EXPECT_EQ(rows[0].left, u"–"_s);
  EXPECT_EQ(rows[0].right, u"row_block"_s);
}

TEST_F(ComparisonTest, PlansAreComparedStepByStep) {
  const auto rows = comparePlans(load().value());
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_EQ(rows[0].name, u"zero fill"_s);
  EXPECT_EQ(rows[0].right, u"–"_s);
  EXPECT_EQ(rows[1].name, u"kernel softmax_rows"_s);
  EXPECT_TRUE(rows[1].left.startsWith(u"256 × 32·8"_s)) << rows[1].left.toStdString();
  EXPECT_TRUE(rows[1].right.startsWith(u"128 × 32·8"_s));
}

TEST_F(ComparisonTest, TheSummaryNamesWhatMattersMost) {
  const QString summary = comparisonSummary(load().value());
  EXPECT_TRUE(summary.contains(u"(−12 %)"_s)) << summary.toStdString();
  EXPECT_TRUE(summary.contains(u"registers per thread 32 → 56"_s)) << summary.toStdString();
}

TEST_F(ComparisonTest, TheModelCanShowOnlyWhatDiffers) {
  ComparisonModel model;
  const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Warning);
  model.setRows(compareGenomes(load().value()));
  EXPECT_EQ(model.rowCount(), 4);
  EXPECT_EQ(model.differenceCount(), 2);
  model.showOnlyDifferences(true);
  ASSERT_EQ(model.rowCount(), 2);
  const auto text = [&model](ComparisonColumn column) {
    return model.index(1, static_cast<int>(column)).data().toString().trimmed();
  };
  EXPECT_EQ(text(ComparisonColumn::Name), u"rows"_s);
  model.setRows(compareMetrics(load().value()));
  EXPECT_EQ(model.index(0, static_cast<int>(ComparisonColumn::Verdict)).data().toString(), u"better"_s)
      << "the status does not differ, so the first row is the time";
}

}  // namespace
}  // namespace swage::ui
