// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "core/domain/json.h"
#include "core/domain/json_reader.h"
#include "tests/core/domain/samples.h"
#include "tests/support/result_matchers.h"

namespace swage::domain {
namespace {

using testing::IsOk;

// Through text and through MessagePack, as in the database and on the wire.
template <class T, class Parse>
T roundTrip(const T& value, Parse parse) {
  const Json json = toJson(value);
  const auto fromText = parseJson(dumpJson(json));
  EXPECT_THAT(fromText, IsOk());
  const std::vector<std::uint8_t> packed = Json::to_msgpack(json);
  const auto unpacked = parseMessagePack(std::string(packed.begin(), packed.end()));
  EXPECT_THAT(unpacked, IsOk());
  EXPECT_EQ(dumpJson(*unpacked), dumpJson(*fromText));
  auto result = parse(*unpacked);
  EXPECT_THAT(result, IsOk());
  EXPECT_EQ(dumpJson(toJson(*result)), dumpJson(json));
  return std::move(*result);
}

TEST(JsonRoundTrip, KeepsGraphs) {
  EXPECT_EQ(roundTrip(testing::sampleGraph(), graphFromJson), testing::sampleGraph());
}

TEST(JsonRoundTrip, KeepsTasksAndWhatOnlyTheBridgeReads) {
  Task unjudged = testing::sampleTask();
  unjudged.source.kind = TaskKind::KernelBench;
  EXPECT_TRUE(roundTrip(unjudged, taskFromJson).source.mustBeNearEager());
  unjudged.source.hasChecker = false;
  EXPECT_FALSE(roundTrip(unjudged, taskFromJson).source.mustBeNearEager());
  EXPECT_FALSE(testing::sampleTask().source.mustBeNearEager());
  const Task task = roundTrip(testing::sampleTask(), taskFromJson);
  EXPECT_EQ(task.graph, testing::sampleGraph());
  EXPECT_EQ(task.source.overrides, testing::sampleTask().source.overrides);
  EXPECT_EQ(task.extraJson, testing::sampleTask().extraJson);
  EXPECT_EQ(task.source.extraJson, testing::sampleTask().source.extraJson);
  EXPECT_EQ(task.id, taskId(testing::sampleTask()));
}

TEST(JsonRoundTrip, KeepsPlansWithNotANumber) {
  const LaunchPlan plan = roundTrip(testing::samplePlan(), launchPlanFromJson);
  const auto& step = std::get<KernelStep>(plan.steps[1]);
  EXPECT_EQ(std::get<float>(step.arguments[4]), 0.1F);
  EXPECT_TRUE(std::isnan(std::get<double>(step.arguments[5])));
  EXPECT_EQ(step.arguments[6], std::get<KernelStep>(testing::samplePlan().steps[1]).arguments[6]);
  EXPECT_EQ(plan.steps[2], testing::samplePlan().steps[2]);
  EXPECT_FALSE(plan.isCaptured);
  LaunchPlan captured = testing::samplePlan();
  captured.isCaptured = true;
  EXPECT_TRUE(roundTrip(captured, launchPlanFromJson).isCaptured);
}

TEST(JsonRoundTrip, KeepsGenomes) {
  EXPECT_EQ(roundTrip(testing::sampleGenome(), genomeFromJson), testing::sampleGenome());
  Genome rewritten = testing::sampleGenome();
  rewritten.rewrites = {{"fold batch norm", ValueId(4), "model.py:14"}, {"double transpose", ValueId(7), {}}};
  EXPECT_EQ(roundTrip(rewritten, genomeFromJson), rewritten);
  EXPECT_FALSE(toJson(testing::sampleGenome()).contains("rewrites"));
}

TEST(JsonRoundTrip, ReadsWrongOnesOfAnEarlierVersion) {
  Wrong wrong{0, 17, 0.25, 1.0, "error", "", {}, {{17, {2, 3}, 0.25, 1.0}}};
  Json json = toJson(Evaluation(wrong));
  ASSERT_EQ(json.erase("first"), 1U);
  const auto read = evaluationFromJson(json);
  ASSERT_THAT(read, IsOk());
  EXPECT_EQ(std::get<Wrong>(*read).element, 17);
  EXPECT_TRUE(std::get<Wrong>(*read).first.empty());
  for (std::size_t i = 0; i < kMostWrongElements; ++i) {
    wrong.first.push_back(wrong.first.front());
  }
  EXPECT_FALSE(evaluationFromJson(toJson(Evaluation(wrong)))) << "more than anybody writes";
}

TEST(JsonRoundTrip, KeepsEveryEvaluation) {
  for (const Evaluation& evaluation : testing::sampleEvaluations()) {
    EXPECT_EQ(roundTrip(evaluation, evaluationFromJson).index(), evaluation.index());
  }
}

TEST(JsonRoundTrip, KeepsTheRest) {
  EXPECT_EQ(roundTrip(testing::sampleProgram(), programFromJson).source, testing::sampleProgram().source);
  EXPECT_EQ(roundTrip(testing::sampleProgram(), programFromJson).parts, testing::sampleProgram().parts);
  EXPECT_EQ(roundTrip(testing::sampleFacts(), kernelFactsFromJson).evidence, testing::sampleFacts().evidence);
  EXPECT_EQ(roundTrip(testing::sampleDevice(), deviceInfoFromJson).memoryBytes, testing::sampleDevice().memoryBytes);
  EXPECT_EQ(roundTrip(testing::sampleTiming(5.0), timingFromJson).medianNs, 5.0);
  EXPECT_EQ(roundTrip(testing::correctIn(5.0).timing, pairedTimingFromJson).speedup, 400.0);
  EXPECT_EQ(roundTrip(testing::correctIn(5.0).timing, pairedTimingFromJson).launchNs, 1.5);
  EXPECT_EQ(roundTrip(testing::sampleBaseline(), baselineFromJson).mode, "compile");
  EXPECT_EQ(roundTrip(testing::sampleProfile(), profileFromJson).kernels, testing::sampleProfile().kernels);
  EXPECT_EQ(roundTrip(testing::sampleTiming(5.0), timingFromJson).conditions, testing::sampleTiming(5.0).conditions);
  EXPECT_EQ(roundTrip(testing::sampleTiming(5.0), timingFromJson).sequenceNs, testing::sampleTiming(5.0).sequenceNs);
}

TEST(JsonRoundTrip, ReadsWhatAnEarlierVersionRecorded) {
  Json timing = toJson(testing::sampleTiming(5.0));
  for (const char* member :
       {"clock", "host_median_ns", "activity_median_ns", "repeated", "conditions", "sequence_ns"}) {
    timing.erase(member);
  }
  const auto read = timingFromJson(timing);
  ASSERT_THAT(read, IsOk());
  EXPECT_EQ(read->medianNs, 5.0);
  EXPECT_EQ(read->conditions, DeviceConditions());

  Json paired = toJson(testing::correctIn(5.0).timing);
  paired.erase("launch_ns");
  EXPECT_EQ(pairedTimingFromJson(paired).value().launchNs, 0.0);

  Json correct = toJson(Evaluation(testing::correctIn(5.0)));
  correct.erase("by_inputs");
  const auto evaluation = evaluationFromJson(correct);
  ASSERT_THAT(evaluation, IsOk());
  EXPECT_THAT(asCorrect(*evaluation)->byInputs, ::testing::IsEmpty());
}

TEST(Names, OfAssurancesAreReadBack) {
  for (const auto kind : {AssuranceKind::HeldBackSeeds, AssuranceKind::Memcheck, AssuranceKind::Racecheck,
                          AssuranceKind::Initcheck, AssuranceKind::HeldOutShapes, AssuranceKind::FreshProcess}) {
    EXPECT_EQ(parseAssuranceKind(name(kind)), kind);
  }
  EXPECT_EQ(parseAssuranceVerdict("unavailable"), AssuranceVerdict::Unavailable);
  EXPECT_EQ(parseAssuranceVerdict("perhaps"), std::nullopt);
}

TEST(TaskId, DependsOnWhatIsAskedOnly) {
  const Task task = testing::sampleTask();
  Task same = task;
  same.warnings.clear();
  same.source.file = "elsewhere.py";
  same.source.extraJson = R"({"path":"/elsewhere/softmax.py"})";
  same.graph.nodes[0].code.clear();  // as bundles of older versions are
  same.graph.nodes[0].name = "other";
  EXPECT_EQ(taskId(same), taskId(task));
  Task other = task;
  other.seed = 8;
  EXPECT_NE(taskId(other), taskId(task));
  other = task;
  other.graph.values[0].shape[0] = 17;
  EXPECT_NE(taskId(other), taskId(task));
}

TEST(TaskFormat, IsTheOneOfTheSpecification) {
  const auto json = parseJson(R"({"schema": 1, "name": "t",
      "source": {"kind": "kernelbench", "file": "t.py", "class": "Model", "sha256": "00", "set": {"dim": 4096}},
      "mode": "train", "torch_version": "2.11.0", "seed": 42,
      "graph": {"values": [{"dtype": "float32", "shape": [16, 64], "strides": [64, 1]},
                           {"dtype": "float32", "shape": [16, 64], "strides": [64, 1]}],
                "inputs": [{"value": 0, "kind": "user", "name": "x"}],
                "nodes": [{"op": "aten.softmax.int", "args": [{"value": 0}, -1], "kwargs": {}, "outputs": [1],
                           "where": "model.py:14 in forward"}],
                "outputs": [{"value": 1, "kind": "user", "name": ""}]},
      "input_generator": {"values": [{"dtype": "float32", "shape": [16, 64], "strides": [64, 1]}], "inputs": [],
                "nodes": [{"op": "aten.rand.default", "args": [[16, 64]], "kwargs": {"device": {"device": true}},
                           "outputs": [0], "where": ""}],
                "outputs": [{"value": 0, "kind": "user", "name": ""}]},
      "bytes": {"inputs": 4096, "parameters": 0, "outputs": 4096, "intermediates": 0}, "warnings": []})");
  ASSERT_THAT(json, IsOk());
  const auto task = taskFromJson(*json);
  ASSERT_THAT(task, IsOk());
  EXPECT_EQ(toJson(*task), *json);
  EXPECT_EQ(task->id.size(), 64U);
  EXPECT_EQ(std::get<std::int64_t>(task->graph.nodes[0].args[1].value), -1);
}

TEST(DumpJson, ReplacesBytesThatAreNotText) {
  const std::string text = dumpJson(toJson(Evaluation(Unstable{"\xFF broken \xC3"})));
  EXPECT_THAT(parseJson(text), IsOk());
}

}  // namespace
}  // namespace swage::domain
