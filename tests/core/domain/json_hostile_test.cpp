// SPDX-License-Identifier: Apache-2.0
#include <functional>

#include "core/domain/json.h"
#include "core/domain/json_reader.h"
#include "tests/core/domain/samples.h"
#include "tests/support/result_matchers.h"

namespace swage::domain {
namespace {

using ::testing::_;
using ::testing::HasSubstr;
using testing::IsError;
using testing::IsOk;

// A place in a valid document, what is put there, and a piece of the message that must come.
struct Attack {
  const char* pointer;
  const char* replacement;
  const char* expected;
};

template <class Parse>
void expectRefused(const Json& valid, std::initializer_list<Attack> attacks, Parse parse) {
  ASSERT_THAT(parse(valid), IsOk());
  for (const Attack& attack : attacks) {
    SCOPED_TRACE(std::string(attack.pointer) + " = " + attack.replacement);
    Json damaged = valid;
    damaged[Json::json_pointer(attack.pointer)] = Json::parse(attack.replacement);
    EXPECT_THAT(parse(damaged), IsError(ErrorKind::InvalidInput, HasSubstr(attack.expected)));
  }
}

TEST(HostileJson, GraphsAreRefusedWithThePlace) {
  expectRefused(toJson(testing::sampleGraph()),
                {{"/values", "3", "graph.values must be a list"},
                 {"/values/0/dtype", "\"complex64\"", "graph.values[0].dtype must not be 'complex64'"},
                 {"/values/0/shape", "[16, \"64\"]", "graph.values[0].shape[1] must be an integer"},
                 {"/values/0/shape", "[16]", "graph.values[0] has 1 sizes"},
                 {"/values/0/shape/0", "-1", "negative"},
                 {"/values/0/shape/0", "1e3", "must be an integer"},
                 {"/values/0/shape/0", "9223372036854775807", "elements"},
                 {"/values/0/shape/0", "18446744073709551615", "must be an integer"},
                 {"/inputs/0/value", "99", "the id 99"},
                 {"/inputs/0/value", "-2", "must be an integer from -1"},
                 {"/inputs/0/kind", "\"root\"", "kind"},
                 {"/inputs/0", "null", "must be an object"},
                 {"/nodes/0/args/0", "{\"value\": 4}", "before it is defined"},
                 {"/nodes/0/args/0", "{\"value\": 0, \"dtype\": \"bool\"}", "one member"},
                 {"/nodes/0/args/0", "{}", "one member"},
                 {"/nodes/0/args/0", "{\"shell\": \"rm\"}", "one member"},
                 {"/nodes/0/args/0", "{\"float\": \"0x10\"}", "must be a number"},
                 {"/nodes/0/args/0", "[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]", "nested deeper"},
                 {"/nodes/0/op", "\"aten.softmax\"", "operator name"},
                 {"/nodes/0/op", "7", "must be a text"},
                 {"/nodes/0/outputs/0", "1", "a second time"},
                 {"/nodes/0/kwargs", "[]", "must be an object"},
                 {"/outputs/0/name", "\"other\"", "'other', which is not an input"}},
                graphFromJson);
}

TEST(HostileJson, TasksAreRefusedWithThePlace) {
  expectRefused(toJson(testing::sampleTask()),
                {{"/schema", "2", "another version"},
                 {"/mode", "\"fast\"", "task.mode"},
                 {"/source/kind", "\"x\"", "task.source.kind"},
                 {"/bytes/inputs", "-1", "task.bytes.inputs"},
                 {"/warnings", "[1]", "task.warnings[0]"},
                 {"/graph/values/0/strides", "[1]", "task.graph.values[0]"},
                 {"/input_generator/outputs", "[]", "as many outputs"},
                 {"/input_generator/inputs", "[{\"value\": 0, \"kind\": \"user\", \"name\": \"\"}]", "a second time"}},
                taskFromJson);
}

TEST(HostileJson, PlansAreRefusedWithThePlace) {
  expectRefused(toJson(testing::samplePlan()),
                {{"/inputs/0", "100", "input 0 names buffer 100"},
                 {"/steps/0", "{\"zero\": 1, \"kernel\": 2}", "one member"},
                 {"/steps/0", "{\"host\": \"system\"}", "one member"},
                 {"/steps/1/kernel/grid", "[1, 1]", "three sizes"},
                 {"/steps/1/kernel/grid", "[1, 1, 1, 1]", "at most 3"},
                 {"/steps/1/kernel/grid/0", "-1", "grid[0]"},
                 {"/steps/1/kernel/block", "[1024, 2, 1]", "block of"},
                 {"/steps/1/kernel/entry", "\"a b\"", "C identifier"},
                 {"/steps/1/kernel/shared", "99999999999", "shared"},
                 {"/steps/1/kernel/arguments/2", "{\"i32\": 2147483648}", "i32"},
                 {"/steps/1/kernel/arguments/2", "{\"pointer\": 4096}", "one member"},
                 {"/steps/2/aten/op", "\"os.system.default\"", "not an ATen operator"},
                 {"/steps/2/aten/args/0", "{\"value\": 77}", "names buffer 77"}},
                launchPlanFromJson);
}

TEST(HostileJson, TheRestIsRefusedWithThePlace) {
  expectRefused(toJson(testing::sampleEvaluations().back()),
                {{"/status", "\"great\"", "evaluation.status"},
                 {"/accuracy", "\"fp8\"", "evaluation.accuracy"},
                 {"/timing/candidate/samples", "-1", "evaluation.timing.candidate.samples"},
                 {"/timing/speedup", "\"2\"", "evaluation.timing.speedup"}},
                evaluationFromJson);
  expectRefused(toJson(testing::sampleGenome()),
                {{"/regions/0/nodes", "[1, 1]", "must ascend"}, {"/regions/0/nodes/0", "-1", "nodes[0]"}},
                genomeFromJson);
  expectRefused(toJson(testing::sampleFacts()),
                {{"/movement", "4", "movement"}, {"/evidence/st.shared", "-1", "evidence"}}, kernelFactsFromJson);
  expectRefused(toJson(testing::sampleDevice()), {{"/target", "\"tpu\"", "target"}, {"/threads", "1.5", "threads"}},
                deviceInfoFromJson);
  expectRefused(toJson(testing::sampleProgram()), {{"/flags", "[null]", "flags[0]"}, {"/source", "{}", "source"}},
                programFromJson);
}

// Every document, with every member in turn removed or replaced by something of another type: an answer, never a crash.
void mutate(const Json& valid, const std::function<void(const Json&)>& use) {
  const Json flat = valid.flatten();
  for (const auto& [pointer, value] : flat.items()) {
    for (const char* replacement :
         {"null", "-1", "1e308", "\"\"", "[]", "{}", "[[]]", "true", "18446744073709551615"}) {
      Json damaged = valid;
      damaged[Json::json_pointer(pointer)] = Json::parse(replacement);
      use(damaged);
    }
  }
  for (const auto& [key, value] : valid.items()) {
    Json damaged = valid;
    if (damaged.is_object()) {
      damaged.erase(key);
      use(damaged);
    }
  }
}

TEST(HostileJson, NoSingleChangeBreaksAParser) {
  mutate(toJson(testing::sampleTask()), [](const Json& json) { static_cast<void>(taskFromJson(json)); });
  mutate(toJson(testing::sampleProgram()), [](const Json& json) { static_cast<void>(programFromJson(json)); });
  mutate(toJson(testing::sampleDevice()), [](const Json& json) { static_cast<void>(deviceInfoFromJson(json)); });
  for (const Evaluation& evaluation : testing::sampleEvaluations()) {
    mutate(toJson(evaluation), [](const Json& json) { static_cast<void>(evaluationFromJson(json)); });
  }
}

TEST(HostileJson, MissingMembersAreNamed) {
  Json json = toJson(testing::sampleDevice());
  json.erase("uuid");
  EXPECT_THAT(deviceInfoFromJson(json), IsError(ErrorKind::InvalidInput, HasSubstr("device has no member 'uuid'")));
  for (const char* text : {"null", "[]", "3", "\"x\"", "{}"}) {
    EXPECT_THAT(taskFromJson(Json::parse(text)), IsError(ErrorKind::InvalidInput, _)) << text;
  }
}

TEST(ParseJson, NamesTheByteOfASyntaxError) {
  EXPECT_THAT(parseJson("{\"a\": tru}"), IsError(ErrorKind::InvalidInput, HasSubstr("byte 10")));
  EXPECT_THAT(parseJson(""), IsError(ErrorKind::InvalidInput, HasSubstr("byte")));
  EXPECT_THAT(parseJson("{} {}"), IsError(ErrorKind::InvalidInput, _));
  EXPECT_THAT(parseJson("\"\xFF\""), IsError(ErrorKind::InvalidInput, HasSubstr("UTF-8")));
  EXPECT_THAT(parseJson("1e999"), IsError(ErrorKind::InvalidInput, _));
}

TEST(ParseJson, RefusesDeepNesting) {
  EXPECT_THAT(parseJson(std::string(64, '[') + std::string(64, ']')), IsOk());
  EXPECT_THAT(parseJson(std::string(65, '[') + std::string(65, ']')),
              IsError(ErrorKind::InvalidInput, HasSubstr("deeper than 64")));
  EXPECT_THAT(parseJson(std::string(1'000'000, '[')), IsError(ErrorKind::InvalidInput, HasSubstr("deeper")));
}

TEST(ParseMessagePack, RefusesDeepNestingAndFalseLengths) {
  EXPECT_THAT(parseMessagePack(std::string(1'000'000, '\x91')), IsError(ErrorKind::InvalidInput, HasSubstr("deeper")));
  EXPECT_THAT(parseMessagePack("\xDD\xFF\xFF\xFF\xFF\x01"), IsError(ErrorKind::InvalidInput, _)) << "array of 4 G";
  EXPECT_THAT(parseMessagePack("\xC6\xFF\xFF\xFF\xFF\x01"), IsError(ErrorKind::InvalidInput, _)) << "binary of 4 GB";
  EXPECT_THAT(parseMessagePack("\xC1"), IsError(ErrorKind::InvalidInput, _)) << "a byte that is never used";
  EXPECT_THAT(parseMessagePack(""), IsError(ErrorKind::InvalidInput, _));
}

}  // namespace
}  // namespace swage::domain
