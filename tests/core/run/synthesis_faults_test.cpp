// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>

#include "core/process/remote_synthesizer.h"
#include "tests/core/run/session_fixture.h"

namespace swage::run {
namespace {

domain::DeviceInfo cpu() {
  domain::DeviceInfo device;
  device.architecture = "x86-64-v3";
  device.threads = device.multiprocessors = 8;
  device.cacheBytes = std::int64_t{32} << 20;
  return device;
}

// Long enough for tiles of every length: of the tiny task there are too few programs for a fault in the middle.
domain::Graph wide(domain::Graph graph) {
  for (domain::TensorType& value : graph.values) {
    value = domain::contiguousTensor(domain::ScalarType::Float32, {64, 8192});
  }
  return graph;
}

// A search over a synthesiser that ends once in the middle.
class SynthesisFaults : public testing::SessionFixture, public ::testing::WithParamInterface<const char*> {};

TEST_P(SynthesisFaults, CostOneCandidate) {
  m_parts.programs.makeSynthesizer = [this](const domain::Graph& graph, const domain::DeviceInfo&) {
    return process::makeRemoteSynthesizer(
        {.command = {SWAGE_TEST_FAULTY_SYNTHESIS, {"realise", GetParam(), "4", m_folder / "happened"}, {}},
         .patterns = SWAGE_TEST_PATTERNS,
         .callLimit = std::chrono::milliseconds(500)},
        wide(graph), cpu());
  };
  const services::RunOutcome outcome = run();
  ASSERT_FALSE(outcome.error) << outcome.error->message();
  EXPECT_EQ(onlyRun().status, store::RunStatus::Finished);
  const auto all = history();
  EXPECT_GT(all.size(), 5U);
  const auto lost = std::count_if(all.begin(), all.end(), [](const store::CandidateRecord& candidate) {
    const auto* failure = std::get_if<domain::CompileFailed>(&*candidate.evaluation);
    return failure != nullptr && failure->log.find("the synthesiser") != std::string::npos;
  });
  EXPECT_EQ(lost, 1);
}

INSTANTIATE_TEST_SUITE_P(RemoteSynthesizer, SynthesisFaults, ::testing::Values("crash", "hang", "assert", "exit"));

}  // namespace
}  // namespace swage::run
