// SPDX-License-Identifier: Apache-2.0
#include "ui/pages/kernel_header.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "tests/support/fake_profile_service.h"
#include "tests/ui/demo_data.h"
#include "ui/pages/kernel_page.h"
#include "ui/widgets/badge.h"

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

// The header as its page fills it.
class KernelHeaderTest : public ::testing::Test {
 protected:
  KernelHeaderTest() {
    testing::fillDemo(record);
    record.makeDetail = [this](const services::CandidateRow& row) {
      services::CandidateDetail detail;
      detail.row = row;
      detail.evaluation = evaluation;
      return detail;
    };
  }
  void open() {
    session = std::make_unique<ProjectSession>(run, record);
    session->showRun(testing::kDemoRun);
    page = std::make_unique<KernelPage>(*session, KernelServices{&record, nullptr, {}, nullptr, &profiles}, nullptr);
    page->resize(1200, 700);
    page->show();
    session->selectCandidate(first());
  }
  [[nodiscard]] domain::CandidateId first() const { return record.rows[0].id; }
  [[nodiscard]] domain::CandidateId second() const { return record.rows[1].id; }
  [[nodiscard]] const Badge& badge(const QString& name) const {
    const auto* found = page->findChild<Badge*>(name);
    EXPECT_NE(found, nullptr) << name.toStdString();
    return *found;
  }

  testing::FakeRunService run;
  testing::FakeRecordService record;
  testing::FakeProfileService profiles;
  std::optional<domain::Evaluation> evaluation;
  std::unique_ptr<ProjectSession> session;
  std::unique_ptr<KernelPage> page;
};

TEST_F(KernelHeaderTest, SaysWhoMadeItAndThatItIsRepeatable) {
  record.rows[0].madeBy = domain::OperatorKind::Human;
  domain::Correct correct;
  evaluation = correct;
  open();
  EXPECT_EQ(badge(u"originBadge"_s).text(), u"edited by hand"_s);
  EXPECT_EQ(badge(u"repeatableBadge"_s).text(), u"deterministic"_s);
  correct.bitwiseRepeatable = false;
  evaluation = correct;
  session->selectCandidate(second());
  EXPECT_FALSE(badge(u"originBadge"_s).isVisible());
  EXPECT_FALSE(badge(u"repeatableBadge"_s).isVisible());
}

TEST_F(KernelHeaderTest, NamesTheModelOrAgentThatMadeIt) {
  record.rows[0].madeBy = *domain::ProposerName::parse("fast");
  record.rows[1].madeBy = *domain::ProposerName::parse("mcp/claude code");
  open();
  EXPECT_EQ(badge(u"originBadge"_s).text(), u"model: fast"_s);
  EXPECT_TRUE(badge(u"originBadge"_s).toolTip().contains(u"language model “fast”"_s));
  session->selectCandidate(second());
  EXPECT_EQ(badge(u"originBadge"_s).text(), u"agent: claude code"_s);
  EXPECT_TRUE(badge(u"originBadge"_s).toolTip().contains(u"swage mcp"_s));
}

TEST_F(KernelHeaderTest, SaysThatItsRunHadNoSelfTest) {
  open();
  EXPECT_FALSE(badge(u"selfTestBadge"_s).isVisible());
  profiles.isUntested = true;
  session->selectCandidate(second());
  EXPECT_TRUE(badge(u"selfTestBadge"_s).isVisible());
  EXPECT_EQ(badge(u"selfTestBadge"_s).text(), u"no self-test"_s);
  EXPECT_EQ(badge(u"selfTestBadge"_s).tone(), Badge::Tone::Caution);
  EXPECT_TRUE(badge(u"selfTestBadge"_s).toolTip().contains(u"System Check"_s));
}

TEST_F(KernelHeaderTest, SaysWhatTheSanitizerFound) {
  using Gate = services::ExportGate;
  const auto select = [this](domain::CandidateId id, Gate::State state, int checks, const char* detail) {
    profiles.gateRows = {{.kind = Gate::Kind::Verified, .state = Gate::State::Failed},
                         {.kind = Gate::Kind::Sanitizer, .state = state, .checks = checks, .detail = detail}};
    session->selectCandidate(id);
  };
  open();
  const Badge& sanitizer = badge(u"sanitizerBadge"_s);
  EXPECT_FALSE(sanitizer.isVisible());
  select(second(), Gate::State::Passed, 3, "");
  EXPECT_EQ(sanitizer.text(), u"sanitizer clean"_s);
  EXPECT_EQ(sanitizer.tone(), Badge::Tone::Good);
  EXPECT_TRUE(sanitizer.toolTip().startsWith(u"3 of 3 tools"_s));
  select(first(), Gate::State::Failed, 1, "racecheck: a race on shared memory");
  EXPECT_EQ(sanitizer.text(), u"sanitizer error"_s);
  EXPECT_EQ(sanitizer.tone(), Badge::Tone::Bad);
  EXPECT_TRUE(sanitizer.toolTip().contains(u"a race on shared memory"_s));
  select(second(), Gate::State::NotRun, 0, "compute-sanitizer is not installed");
  EXPECT_EQ(sanitizer.text(), u"sanitizer not run"_s);
  EXPECT_TRUE(sanitizer.toolTip().contains(u"compute-sanitizer is not installed"_s));
  select(first(), Gate::State::NotRun, 0, "");
  EXPECT_FALSE(sanitizer.isVisible()) << "the record says nothing of it";
  select(second(), Gate::State::NotApplicable, 0, "");
  EXPECT_FALSE(sanitizer.isVisible());
}

}  // namespace
}  // namespace swage::ui
