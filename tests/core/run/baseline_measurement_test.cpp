// SPDX-License-Identifier: Apache-2.0
#include "core/run/baseline_measurement.h"

#include <gmock/gmock.h>

#include "tests/support/result_matchers.h"

namespace swage::run {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::IsError;
using testing::IsOk;

TEST(Baselines, AreReadFromTheBridgesDocument) {
  const auto baselines = baselinesFromJson(json::parse(
      R"({"torch_version": "2.11.0+cu130",
          "modes": {"eager": {"median_ns": 200, "low_ns": 190, "high_ns": 210, "samples": 9, "accuracy": "tf32",
                              "error": null, "repeated": 2,
                              "conditions": {"sm_clock_mhz": 1980, "lowest_sm_clock_mhz": 1965,
                                             "memory_clock_mhz": 3201, "temperature_celsius": 41,
                                             "power_watts": 310.5, "throttle_reasons": ["power cap"]}},
                    "compile": {"median_ns": null, "samples": 0, "error": "no compiler"},
                    "max-autotune": {"median_ns": 100, "samples": 9, "error": null, "eager_speedup": 0.5,
                                     "eager_speedup_low": 0.4, "eager_speedup_high": 0.6}}})"));
  ASSERT_THAT(baselines, IsOk());
  ASSERT_EQ(baselines->size(), 3U);
  EXPECT_EQ(baselines->at(2).eagerSpeedup, (domain::Speedup{0.5, 0.4, 0.6}));
  EXPECT_EQ(baselines->at(0).mode, "compile");
  EXPECT_EQ(baselines->at(0).failure, "no compiler");
  EXPECT_EQ(baselines->at(1).timing.samples, 9);
  EXPECT_EQ(baselines->at(1).torchVersion, "2.11.0");
  EXPECT_EQ(baselines->at(1).accuracy, domain::AccuracyClass::Tf32);
  EXPECT_EQ(baselines->at(1).timing.repeated, 2);
  const domain::DeviceConditions& conditions = baselines->at(1).timing.conditions;
  EXPECT_EQ(conditions.smClockMhz, 1980);
  EXPECT_EQ(conditions.lowestSmClockMhz, 1965);
  EXPECT_EQ(conditions.memoryClockMhz, 3201);
  EXPECT_EQ(conditions.temperatureCelsius, 41);
  EXPECT_EQ(conditions.powerWatts, 310.5);
  EXPECT_EQ(conditions.throttleReasons, std::vector<std::string>{"power cap"});
  EXPECT_EQ(baselines->at(0).timing.conditions.smClockMhz, 0) << "of a bridge that does not know";
}

TEST(Baselines, ADocumentWithoutModesIsAProtocolError) {
  EXPECT_THAT(baselinesFromJson(json::object()), IsError(ErrorKind::Protocol, HasSubstr("modes")));
  EXPECT_THAT(baselinesFromJson(json::parse(R"({"modes": {"eager": 3}})")),
              IsError(ErrorKind::Protocol, HasSubstr("eager")));
}

TEST(Baselines, TheEagerThatTheOthersWereMeasuredInTurnsWithStands) {
  domain::Baseline worker;
  worker.mode = "eager";
  worker.timing.medianNs = 10.0;  // at another moment
  worker.accuracy = domain::AccuracyClass::Half;
  domain::Baseline python = worker;
  python.timing.medianNs = 100.0;
  python.accuracy = domain::AccuracyClass::Tf32;
  domain::Baseline compile;
  compile.mode = "compile";
  compile.timing.medianNs = 50.0;
  compile.eagerSpeedup = {0.5, 0.49, 0.51};
  const auto both = merged(worker, {python, compile});
  EXPECT_DOUBLE_EQ(both.at(0).timing.medianNs, 100.0);
  EXPECT_EQ(both.at(0).accuracy, domain::AccuracyClass::Tf32) << "as the bridge found";
  EXPECT_EQ(both.at(1).eagerSpeedup, (domain::Speedup{0.5, 0.49, 0.51}));
  python.failure = "it crashed";
  EXPECT_DOUBLE_EQ(merged(worker, {python}).at(0).timing.medianNs, 10.0);
  EXPECT_EQ(merged(worker, {}).size(), 1U);
}

TEST(Baselines, WithoutTheBridgeTheClassOfEagerIsGuessedFromItsError) {
  domain::Graph graph;
  graph.values = {domain::contiguousTensor(domain::ScalarType::Float32, {4})};
  graph.outputs = {{domain::ValueId(0), domain::OutputKind::User, ""}};
  wire::TaskReady task;
  task.eagerErrors = {{.relativeL2 = 1e-6}};
  EXPECT_EQ(eagerBaseline(task, graph, "2.11.0").accuracy, domain::AccuracyClass::Fp32);
  task.eagerErrors = {{.relativeL2 = 3e-4}};
  EXPECT_EQ(eagerBaseline(task, graph, "2.11.0").accuracy, domain::AccuracyClass::Tf32);
  graph.values[0].dtype = domain::ScalarType::BFloat16;
  EXPECT_EQ(eagerBaseline(task, graph, "2.11.0").accuracy, domain::AccuracyClass::Half);
}

TEST(Baselines, MaxAutotuneIsMeasuredWhereThereIsTimeOrOnRequest) {
  services::RunSpec spec;
  spec.timeBudgetSeconds = 60.0;
  EXPECT_THAT(baselineModes(spec), ElementsAre("eager", "compile"));
  spec.timeBudgetSeconds = 300.0;
  EXPECT_THAT(baselineModes(spec), ElementsAre("eager", "compile", "max-autotune"));
  spec.compileBaselines = false;
  EXPECT_THAT(baselineModes(spec), ElementsAre("eager"));
  spec.baselines = {"eager", "max-autotune"};
  EXPECT_THAT(baselineModes(spec), ElementsAre("eager", "max-autotune"));
}

}  // namespace
}  // namespace swage::run
