// SPDX-License-Identifier: Apache-2.0
#include "core/run/candidate_outcome.h"

#include <gtest/gtest.h>

namespace swage::run {
namespace {

domain::Program operatorsAlone() {
  domain::Program program;
  program.language = domain::Language::CudaCpp;
  program.plan.steps = {domain::AtenStep{}};
  return program;
}

TEST(CandidateOutcome, RefusesProgramsForAnotherKindOfDevice) {
  domain::Program program = operatorsAlone();
  program.plan.steps.emplace_back(domain::KernelStep{});
  EXPECT_TRUE(refusalOf(program, domain::DeviceKind::Cpu));
  EXPECT_FALSE(refusalOf(program, domain::DeviceKind::Cuda));
}

TEST(CandidateOutcome, RefusesOperatorsAloneUnlessTheyAreOneCudaGraph) {
  domain::Program program = operatorsAlone();
  EXPECT_TRUE(refusalOf(program, domain::DeviceKind::Cuda));
  program.plan.isCaptured = true;
  EXPECT_FALSE(refusalOf(program, domain::DeviceKind::Cuda));
}

}  // namespace
}  // namespace swage::run
