// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "core/domain/json_reader.h"

namespace swage::domain {
namespace {

constexpr std::array kReasons{CompileFailureReason::Error,       CompileFailureReason::Timeout,
                              CompileFailureReason::MemoryLimit, CompileFailureReason::OutputLimit,
                              CompileFailureReason::Crash,       CompileFailureReason::Refused,
                              CompileFailureReason::Environment};

Json errorsToJson(const std::vector<OutputError>& errors) {
  Json list = Json::array();
  for (const OutputError& error : errors) {
    list.push_back(toJson(error));
  }
  return list;
}

Json inputErrorsToJson(const std::vector<InputErrors>& all) {
  Json list = Json::array();
  for (const InputErrors& one : all) {
    list.push_back({{"inputs", one.inputs}, {"checks", one.checks}, {"errors", errorsToJson(one.errors)}});
  }
  return list;
}

Json wrongElementsToJson(const std::vector<WrongElement>& elements) {
  Json list = Json::array();
  for (const WrongElement& one : elements) {
    list.push_back({{"element", one.element},
                    {"place", one.place},
                    {"expected", numberToJson(one.expected)},
                    {"actual", numberToJson(one.actual)}});
  }
  return list;
}

struct EvaluationWriter {
  Json operator()(const Duplicate& value) const { return {{"of", value.of.value()}, {"what", value.what}}; }
  Json operator()(const Rejected& value) const { return {{"rule", value.rule}, {"detail", value.detail}}; }
  Json operator()(const CompileFailed& value) const { return {{"reason", name(value.reason)}, {"log", value.log}}; }
  Json operator()(const LaunchFailed& value) const { return {{"step", value.step}, {"detail", value.detail}}; }
  Json operator()(const Wrong& value) const {
    return {{"output", value.output},
            {"element", value.element},
            {"expected", numberToJson(value.expected)},
            {"actual", numberToJson(value.actual)},
            {"rule", value.rule},
            {"detail", value.detail},
            {"errors", errorsToJson(value.errors)},
            {"first", wrongElementsToJson(value.first)}};
  }
  Json operator()(const Crashed& value) const { return {{"signal", value.signal}, {"detail", value.detail}}; }
  Json operator()(const TimedOut& value) const {
    return {{"stage", value.stage}, {"limit_seconds", numberToJson(value.limitSeconds)}};
  }
  Json operator()(const Cheating& value) const { return {{"rule", value.rule}, {"detail", value.detail}}; }
  Json operator()(const Unstable& value) const { return Json{{"detail", value.detail}}; }
  Json operator()(const Correct& value) const {
    return {{"errors", errorsToJson(value.errors)},
            {"accuracy", name(value.accuracy)},
            {"bitwise_repeatable", value.bitwiseRepeatable},
            {"timing", toJson(value.timing)},
            {"by_inputs", inputErrorsToJson(value.byInputs)}};
  }
};

WrongElement readWrongElement(const JsonReader& reader) {
  constexpr std::size_t kMostDimensions = 64;
  return {reader["element"].integer(0),
          reader["place"].list([](const JsonReader& index) { return index.integer(0); }, kMostDimensions),
          reader["expected"].number(), reader["actual"].number()};
}

Wrong readWrong(const JsonReader& reader) {
  Wrong value{reader["output"].smallInteger(),       reader["element"].integer(-1),
              reader["expected"].number(),           reader["actual"].number(),
              reader["rule"].text(kMaxName),         reader["detail"].text(),
              reader["errors"].list(readOutputError)};
  if (reader.has("first")) {  // not in a record of an earlier version
    value.first = reader["first"].list(readWrongElement, kMostWrongElements);
  }
  return value;
}

InputErrors readInputErrors(const JsonReader& reader) {
  return {reader["inputs"].text(kMaxName), reader["checks"].smallInteger(0), reader["errors"].list(readOutputError)};
}

Correct readCorrect(const JsonReader& reader) {
  Correct value;
  value.errors = reader["errors"].list(readOutputError);
  value.accuracy = reader["accuracy"].word(parseAccuracyClass);
  value.bitwiseRepeatable = reader["bitwise_repeatable"].boolean();
  value.timing = readPairedTiming(reader["timing"]);
  if (reader.has("by_inputs")) {  // not in a record of an earlier version
    value.byInputs = reader["by_inputs"].list(readInputErrors);
  }
  return value;
}

struct RuleAndDetail {
  std::string rule;
  std::string detail;
};

RuleAndDetail readRule(const JsonReader& reader, std::string_view rule) {
  return {reader[rule].text(kMaxName), reader["detail"].text()};
}

template <class T>
bool is(std::string_view status) {
  return statusName(Evaluation(T{})) == status;
}

}  // namespace

std::string_view name(CompileFailureReason reason) {
  switch (reason) {
    case CompileFailureReason::Error: return "error";
    case CompileFailureReason::Timeout: return "timeout";
    case CompileFailureReason::MemoryLimit: return "memory_limit";
    case CompileFailureReason::OutputLimit: return "output_limit";
    case CompileFailureReason::Crash: return "crash";
    case CompileFailureReason::Refused: return "refused";
    case CompileFailureReason::Environment: return "environment";
  }
  return "error";
}

std::optional<CompileFailureReason> parseCompileFailureReason(std::string_view text) {
  for (const CompileFailureReason reason : kReasons) {
    if (name(reason) == text) {
      return reason;
    }
  }
  return std::nullopt;
}

Json toJson(const OutputError& error) {
  return {{"output", error.output},
          {"relative_l2", numberToJson(error.relativeL2)},
          {"max_absolute", numberToJson(error.maxAbsolute)},
          {"eager_relative_l2", numberToJson(error.eagerRelativeL2)},
          {"eager_max_absolute", numberToJson(error.eagerMaxAbsolute)}};
}

OutputError readOutputError(const JsonReader& reader) {
  return {reader["output"].smallInteger(), reader["relative_l2"].number(), reader["max_absolute"].number(),
          reader["eager_relative_l2"].number(), reader["eager_max_absolute"].number()};
}

Json toJson(const DeviceConditions& value) {
  Json json = {{"sm_clock_mhz", value.smClockMhz},
               {"lowest_sm_clock_mhz", value.lowestSmClockMhz},
               {"memory_clock_mhz", value.memoryClockMhz},
               {"temperature_celsius", value.temperatureCelsius},
               {"power_watts", numberToJson(value.powerWatts)},
               {"throttle_reasons", value.throttleReasons}};
  for (const ConditionLook& look : value.looks) {
    json["looks"].push_back(
        {{"sm_clock_mhz", look.smClockMhz}, {"celsius", look.temperatureCelsius}, {"throttled", look.throttled}});
  }
  return json;
}

DeviceConditions readDeviceConditions(const JsonReader& reader) {
  DeviceConditions value{reader["sm_clock_mhz"].smallInteger(0),
                         reader["lowest_sm_clock_mhz"].smallInteger(0),
                         reader["memory_clock_mhz"].smallInteger(0),
                         reader["temperature_celsius"].smallInteger(),
                         reader["power_watts"].number(),
                         reader["throttle_reasons"].list([](const JsonReader& item) { return item.text(kMaxName); }),
                         {}};
  if (reader.has("looks")) {  // not in a record of an earlier version
    value.looks = reader["looks"].list(
        [](const JsonReader& item) {
          return ConditionLook{item["sm_clock_mhz"].smallInteger(0), item["celsius"].smallInteger(),
                               item["throttled"].boolean()};
        },
        kKeptSamples);
  }
  return value;
}

Json toJson(const Timing& value) {
  Json json = {{"samples", value.samples},
               {"discarded", value.discarded},
               {"median_ns", numberToJson(value.medianNs)},
               {"low_ns", numberToJson(value.lowNs)},
               {"high_ns", numberToJson(value.highNs)},
               {"min_ns", numberToJson(value.minNs)},
               {"stop_reason", value.stopReason},
               {"clock", value.clock},
               {"host_median_ns", numberToJson(value.hostMedianNs)},
               {"activity_median_ns", numberToJson(value.activityMedianNs)},
               {"repeated", value.repeated},
               {"conditions", toJson(value.conditions)}};
  for (const double ns : value.sequenceNs) {
    json["sequence_ns"].push_back(numberToJson(ns));
  }
  return json;
}

Timing readTiming(const JsonReader& reader) {
  Timing value;
  value.samples = reader["samples"].smallInteger(0);
  value.discarded = reader["discarded"].smallInteger(0);
  value.medianNs = reader["median_ns"].number();
  value.lowNs = reader["low_ns"].number();
  value.highNs = reader["high_ns"].number();
  value.minNs = reader["min_ns"].number();
  value.stopReason = reader["stop_reason"].text(kMaxName);
  if (reader.has("clock")) {  // a record of an earlier version lacks the rest
    value.clock = reader["clock"].text(kMaxName);
    value.hostMedianNs = reader["host_median_ns"].number();
    value.activityMedianNs = reader["activity_median_ns"].number();
    value.repeated = reader["repeated"].smallInteger(0);
    value.conditions = readDeviceConditions(reader["conditions"]);
  }
  if (reader.has("sequence_ns")) {
    value.sequenceNs = reader["sequence_ns"].list([](const JsonReader& item) { return item.number(); }, kKeptSamples);
  }
  return value;
}

Json toJson(const PairedTiming& value) {
  return {{"candidate", toJson(value.candidate)},
          {"eager", toJson(value.eager)},
          {"speedup", numberToJson(value.speedup)},
          {"speedup_low", numberToJson(value.speedupLow)},
          {"speedup_high", numberToJson(value.speedupHigh)},
          {"screened_out", value.screenedOut},
          {"launch_ns", numberToJson(value.launchNs)}};
}

PairedTiming readPairedTiming(const JsonReader& reader) {
  return {readTiming(reader["candidate"]),
          readTiming(reader["eager"]),
          reader["speedup"].number(),
          reader["speedup_low"].number(),
          reader["speedup_high"].number(),
          reader["screened_out"].boolean(),
          reader.has("launch_ns") ? reader["launch_ns"].number() : 0.0};  // not in a record of an earlier version
}

Json toJson(const Evaluation& value) {
  Json json = std::visit(EvaluationWriter{}, value);
  json["status"] = statusName(value);
  return json;
}

Evaluation readEvaluation(const JsonReader& reader) {
  const std::string status = reader["status"].text(kMaxName);
  if (is<Duplicate>(status)) {
    return Duplicate{CandidateId(reader["of"].integer(-1)), reader["what"].text(kMaxName)};
  }
  if (is<Rejected>(status)) {
    auto [rule, detail] = readRule(reader, "rule");
    return Rejected{std::move(rule), std::move(detail)};
  }
  if (is<CompileFailed>(status)) {
    return CompileFailed{reader["reason"].word(parseCompileFailureReason), reader["log"].text()};
  }
  if (is<LaunchFailed>(status)) {
    auto [step, detail] = readRule(reader, "step");
    return LaunchFailed{std::move(step), std::move(detail)};
  }
  if (is<Wrong>(status)) {
    return readWrong(reader);
  }
  if (is<Crashed>(status)) {
    return Crashed{reader["signal"].smallInteger(0), reader["detail"].text()};
  }
  if (is<TimedOut>(status)) {
    return TimedOut{reader["stage"].text(kMaxName), reader["limit_seconds"].number()};
  }
  if (is<Cheating>(status)) {
    auto [rule, detail] = readRule(reader, "rule");
    return Cheating{std::move(rule), std::move(detail)};
  }
  if (is<Unstable>(status)) {
    return Unstable{reader["detail"].text()};
  }
  if (is<Correct>(status)) {
    return readCorrect(reader);
  }
  reader["status"].fail("must be the name of an outcome");
  return Rejected{};
}

Result<Timing> timingFromJson(const Json& json) {
  return readJson(json, "timing", readTiming);
}
Result<PairedTiming> pairedTimingFromJson(const Json& json) {
  return readJson(json, "timing", readPairedTiming);
}
Result<Evaluation> evaluationFromJson(const Json& json) {
  return readJson(json, "evaluation", readEvaluation);
}

}  // namespace swage::domain
