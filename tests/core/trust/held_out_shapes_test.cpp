// SPDX-License-Identifier: Apache-2.0
#include "core/trust/held_out_shapes.h"

#include <algorithm>
#include <fstream>

#include <fmt/format.h>

#include "tests/core/run/session_fixture.h"
#include "tests/support/result_matchers.h"

namespace swage::trust {
namespace {

using testing::fakeCompiler;
using ::testing::HasSubstr;
using testing::IsError;
using testing::waitFor;

class HeldOutShapesTest : public testing::SessionFixture {
 protected:
  // The bridge's answer: one variant, which is the task itself.
  void answerWithOneVariant() {
    answer(fmt::format(R"({{"variants": [{{"name": "odd sizes", "sizes": "4 -> 3", "bundle": "{}"}}],
                          "refused": [{{"what": "a batch of 1 instead of 4", "why": "no"}}]}})",
                       m_spec.task));
  }
  void answer(const std::string& document) {
    const auto python = m_folder / "python";
    std::ofstream(python) << "#!/bin/sh\ncat <<'END'\n" << document << "\nEND\n";
    std::filesystem::permissions(python, std::filesystem::perms::owner_all);
    m_parts.programs.bridge.python = python.string();
  }
  template <class Kind>
  domain::CandidateId candidateThatIs() const {
    for (const store::CandidateRecord& candidate : history()) {
      if (candidate.program.plan.hasKernels() && candidate.evaluation &&
          std::holds_alternative<Kind>(*candidate.evaluation)) {
        return candidate.id;
      }
    }
    return {};
  }
  Result<domain::Assurance> check(domain::CandidateId candidate, bool cancel = false) {
    HeldOutShapes shapes(m_parts.programs, m_spec.project, candidate);
    std::optional<Result<domain::Assurance>> result;
    QObject::connect(&shapes, &HeldOutShapes::finished, &shapes, [&](const Result<domain::Assurance>& assurance) {
      EXPECT_FALSE(result.has_value());
      result = assurance;
    });
    shapes.start();
    if (cancel) {
      shapes.cancel();
    }
    EXPECT_TRUE(waitFor([&] { return result.has_value(); }));
    return result.value_or(Error(ErrorKind::Internal, "no result"));
  }
};

TEST_F(HeldOutShapesTest, ArePassedByAGenomeThatIsRightThere) {
  run();
  answerWithOneVariant();
  const auto assurance = check(candidateThatIs<domain::Correct>());
  ASSERT_THAT(assurance, testing::IsOk());
  EXPECT_EQ(assurance->kind, domain::AssuranceKind::HeldOutShapes);
  EXPECT_EQ(assurance->verdict, domain::AssuranceVerdict::Passed);
  EXPECT_EQ(assurance->detail, "odd sizes (4 -> 3): correct; not possible: a batch of 1 instead of 4");
}

TEST_F(HeldOutShapesTest, AreFailedByAGenomeThatIsWrongThere) {
  m_spec.maxEvaluations = 60;
  m_spaceSize = 14;
  run();
  answerWithOneVariant();
  const auto assurance = check(candidateThatIs<domain::Wrong>());
  ASSERT_THAT(assurance, testing::IsOk());
  EXPECT_EQ(assurance->verdict, domain::AssuranceVerdict::Failed);
  EXPECT_THAT(assurance->detail, HasSubstr("shape-specific: odd sizes (4 -> 3): "));
}

TEST_F(HeldOutShapesTest, AreFailedByAGenomeThatDoesNotCompileThere) {
  run();
  answerWithOneVariant();
  m_parts.programs.compilerCommand = fakeCompiler("compile_error");
  const auto assurance = check(candidateThatIs<domain::Correct>());
  ASSERT_THAT(assurance, testing::IsOk());
  EXPECT_EQ(assurance->verdict, domain::AssuranceVerdict::Failed);
  EXPECT_THAT(assurance->detail, HasSubstr("it does not compile"));
}

TEST_F(HeldOutShapesTest, AreUnavailableWhereTheModuleTakesNone) {
  run();
  answer(R"({"variants": [], "refused": []})");
  auto assurance = check(candidateThatIs<domain::Correct>());
  ASSERT_THAT(assurance, testing::IsOk());
  EXPECT_EQ(assurance->verdict, domain::AssuranceVerdict::Unavailable);
  EXPECT_EQ(assurance->detail, "the module takes no other sizes");
}

TEST_F(HeldOutShapesTest, AreUnavailableForPyTorchsOwnOperators) {
  run();
  const auto assurance = check(history().front().id);
  ASSERT_THAT(assurance, testing::IsOk());
  EXPECT_EQ(assurance->verdict, domain::AssuranceVerdict::Unavailable);
  EXPECT_THAT(assurance->detail, HasSubstr("take every size"));
}

TEST_F(HeldOutShapesTest, AreUnavailableForAProgramWithoutAGenome) {
  run();
  domain::CandidateId imported;
  {
    store::Record record = store::Record::open(m_spec.project, store::Record::Mode::ReadWrite).value();
    const store::CandidateRecord known = record.candidate(candidateThatIs<domain::Correct>()).value();
    store::NewCandidate candidate;
    candidate.run = known.run;
    candidate.madeBy = domain::OperatorKind::Coder;
    candidate.program = known.program;
    candidate.sourceHash = "imported";
    imported = record.addCandidate(candidate).value();
  }
  const auto assurance = check(imported);
  ASSERT_THAT(assurance, testing::IsOk());
  EXPECT_EQ(assurance->verdict, domain::AssuranceVerdict::Unavailable);
  EXPECT_THAT(assurance->detail, HasSubstr("was not synthesised"));
}

TEST_F(HeldOutShapesTest, SaysWhyTheBridgeFailed) {
  run();
  const auto assurance = check(candidateThatIs<domain::Correct>());  // there is no Python
  ASSERT_THAT(assurance, testing::IsOk());
  EXPECT_EQ(assurance->verdict, domain::AssuranceVerdict::Unavailable);
  EXPECT_THAT(assurance->detail, HasSubstr("/nonexistent/python"));
}

TEST_F(HeldOutShapesTest, EndsWhenItIsCancelled) {
  run();
  answerWithOneVariant();
  EXPECT_THAT(check(candidateThatIs<domain::Correct>(), true), IsError(ErrorKind::Cancelled, HasSubstr("cancelled")));
}

TEST(HasSameStructure, ComparesOperatorsAndWiringButNoShapes) {
  const domain::Graph graph = testing::tinyTask().graph;
  domain::Graph other = graph;
  other.values[0].shape[0] += 1;
  EXPECT_TRUE(hasSameStructure(graph, other));
  other.nodes[0].op = "aten.gelu.default";
  EXPECT_FALSE(hasSameStructure(graph, other));
  other = graph;
  other.nodes.clear();
  EXPECT_FALSE(hasSameStructure(graph, other));
}

}  // namespace
}  // namespace swage::trust
