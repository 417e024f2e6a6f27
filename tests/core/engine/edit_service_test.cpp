// SPDX-License-Identifier: Apache-2.0
#include "core/engine/edit_service_impl.h"

#include <QCoreApplication>
#include <QThread>

#include <algorithm>
#include <optional>
#include <vector>

#include "core/patterns/catalogue.h"
#include "tests/core/run/session_fixture.h"
#include "tests/support/result_matchers.h"

namespace swage::engine {
namespace {

using ::testing::ElementsAre;
using testing::IsOk;
using testing::waitFor;

class EditServiceTest : public testing::SessionFixture {};

TEST_F(EditServiceTest, AnswersOnTheThreadOfItsOwner) {
  run();
  const std::vector<store::CandidateRecord> all = history();
  const auto parent = std::find_if(all.begin(), all.end(), [](const store::CandidateRecord& candidate) {
    return candidate.program.plan.hasKernels() && candidate.evaluation && domain::asCorrect(*candidate.evaluation);
  });
  ASSERT_NE(parent, all.end());
  EditServiceImpl service(m_parts, {});
  std::optional<Result<services::EditOutcome>> result;
  QObject::connect(&service, &services::EditService::finished, &service,
                   [&result](const Result<services::EditOutcome>& outcome) {
                     EXPECT_EQ(QThread::currentThread(), QCoreApplication::instance()->thread());
                     result = outcome;
                   });
  service.evaluate({.project = m_spec.project, .parent = parent->id, .change = services::SourceEdit{"other"}});
  EXPECT_TRUE(service.isActive());
  ASSERT_TRUE(waitFor([&] { return result.has_value(); }));
  EXPECT_FALSE(service.isActive());
  EXPECT_THAT(*result, IsOk());
}

TEST(DescribeRegions, SaysWhatThePatternsAllow) {
  const auto catalogue = patterns::Catalogue::load(SWAGE_TEST_PATTERNS);
  ASSERT_THAT(catalogue, IsOk());
  const patterns::Pattern& pattern = *catalogue->find(domain::Language::Cpp, "row");
  const patterns::Parameter& parameter = pattern.parameters.front();
  domain::Genome genome;
  genome.regions = {{{0, 1}, "row", {{parameter.name, parameter.values.back()}, {"bygone", 4}}}, {{2}, "lost", {}}};
  const auto regions = describeRegions(*catalogue, domain::Language::Cpp, genome);
  ASSERT_EQ(regions.size(), 2U);
  EXPECT_EQ(regions[0].description, pattern.description);
  EXPECT_THAT(regions[0].nodes, ElementsAre(0, 1));
  const auto known = std::find_if(regions[0].parameters.begin(), regions[0].parameters.end(),
                                  [&](const auto& range) { return range.name == parameter.name; });
  ASSERT_NE(known, regions[0].parameters.end());
  EXPECT_EQ(known->values, parameter.values);
  EXPECT_EQ(known->value, parameter.values.back());
  EXPECT_EQ(known->standard, parameter.standard);
  EXPECT_EQ(known->description, parameter.description);
  const auto bygone = std::find_if(regions[0].parameters.begin(), regions[0].parameters.end(),
                                   [](const auto& range) { return range.name == "bygone"; });
  ASSERT_NE(bygone, regions[0].parameters.end());
  EXPECT_THAT(bygone->values, ElementsAre(4));
  EXPECT_TRUE(regions[1].description.empty());
}

}  // namespace
}  // namespace swage::engine
