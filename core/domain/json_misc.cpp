// SPDX-License-Identifier: Apache-2.0
#include "core/domain/json_reader.h"

namespace swage::domain {
namespace {

constexpr int kMaxMovement = static_cast<int>(DataMovement::Pipelined);
constexpr int kMaxArithmetic = static_cast<int>(Arithmetic::TensorCore);

}  // namespace

Json toJson(const ProgramLines& value) {
  return {value.first, value.count, value.inProgram};
}

ProgramLines readProgramLines(const JsonReader& reader) {
  const std::vector<int> numbers = reader.list([](const JsonReader& item) { return item.smallInteger(0); });
  if (numbers.size() != 3) {
    reader.fail("must have three numbers: first, count, line in the program");
    return {};
  }
  return {numbers[0], numbers[1], numbers[2]};
}

Json toJson(const KernelFacts& value) {
  Json json = {{"entry", value.entry},
               {"movement", static_cast<int>(value.movement)},
               {"arithmetic", static_cast<int>(value.arithmetic)},
               {"inter_block", value.interBlock},
               {"registers", value.registers},
               {"spill_bytes", value.spillBytes},
               {"static_shared_bytes", value.staticSharedBytes},
               {"evidence", value.evidence}};
  for (const ProgramLines& range : value.lines) {
    json["lines"].push_back(toJson(range));
  }
  return json;
}

KernelFacts readKernelFacts(const JsonReader& reader) {
  KernelFacts facts;
  facts.entry = reader["entry"].text(kMaxName);
  facts.movement = static_cast<DataMovement>(reader["movement"].smallInteger(0, kMaxMovement));
  facts.arithmetic = static_cast<Arithmetic>(reader["arithmetic"].smallInteger(0, kMaxArithmetic));
  facts.interBlock = reader["inter_block"].boolean();
  facts.registers = reader["registers"].smallInteger(0);
  facts.spillBytes = reader["spill_bytes"].integer(0);
  facts.staticSharedBytes = reader["static_shared_bytes"].integer(0);
  reader["evidence"].eachMember(
      [&](const std::string& key, const JsonReader& item) { facts.evidence.emplace(key, item.integer(0)); });
  if (reader.has("lines")) {
    facts.lines = reader["lines"].list(readProgramLines);
  }
  return facts;
}

Json toJson(const DeviceInfo& value) {
  return {{"target", name(value.kind)},
          {"host", value.host},
          {"uuid", value.uuid},
          {"name", value.name},
          {"architecture", value.architecture},
          {"driver_version", value.driverVersion},
          {"ordinal", value.ordinal},
          {"multiprocessors", value.multiprocessors},
          {"threads", value.threads},
          {"memory_bytes", value.memoryBytes},
          {"cache_bytes", value.cacheBytes},
          {"shared_bytes_per_block", value.sharedBytesPerBlock},
          {"compute_capability", value.computeCapability},
          {"copy_bytes_per_second", numberToJson(value.copyBytesPerSecond)}};
}

DeviceInfo readDeviceInfo(const JsonReader& reader) {
  DeviceInfo device;
  device.kind = reader["target"].word(parseDeviceKind);
  device.host = reader["host"].text(kMaxName);
  device.uuid = reader["uuid"].text(kMaxName);
  device.name = reader["name"].text(kMaxName);
  device.architecture = reader["architecture"].text(kMaxName);
  device.driverVersion = reader["driver_version"].text(kMaxName);
  device.ordinal = reader["ordinal"].smallInteger(0);
  device.multiprocessors = reader["multiprocessors"].smallInteger(0);
  device.threads = reader["threads"].smallInteger(0);
  device.memoryBytes = reader["memory_bytes"].integer(0);
  device.cacheBytes = reader["cache_bytes"].integer(0);
  device.sharedBytesPerBlock = reader["shared_bytes_per_block"].integer(0);
  device.computeCapability = reader["compute_capability"].smallInteger(0);
  device.copyBytesPerSecond = reader["copy_bytes_per_second"].number();
  return device;
}

Json toJson(const Speedup& value) {
  return {{"value", numberToJson(value.value)}, {"low", numberToJson(value.low)}, {"high", numberToJson(value.high)}};
}

static Speedup readSpeedup(const JsonReader& reader) {
  return {reader["value"].number(), reader["low"].number(), reader["high"].number()};
}

Json toJson(const Baseline& value) {
  return {{"mode", value.mode},
          {"timing", toJson(value.timing)},
          {"relative_l2", numberToJson(value.relativeL2)},
          {"max_absolute", numberToJson(value.maxAbsolute)},
          {"compile_seconds", numberToJson(value.compileSeconds)},
          {"failure", value.failure},
          {"accuracy", name(value.accuracy)},
          {"torch_version", value.torchVersion},
          {"eager_speedup", toJson(value.eagerSpeedup)}};
}

Baseline readBaseline(const JsonReader& reader) {
  Baseline value;
  value.mode = reader["mode"].text(kMaxName);
  value.timing = readTiming(reader["timing"]);
  value.relativeL2 = reader["relative_l2"].number();
  value.maxAbsolute = reader["max_absolute"].number();
  value.compileSeconds = reader["compile_seconds"].number();
  value.failure = reader["failure"].text();
  if (reader.has("accuracy")) {  // a record of an earlier version lacks the rest
    value.accuracy = reader["accuracy"].word(parseAccuracyClass);
    value.torchVersion = reader["torch_version"].text(kMaxName);
  }
  if (reader.has("eager_speedup")) {
    value.eagerSpeedup = readSpeedup(reader["eager_speedup"]);
  }
  return value;
}

Json toJson(const Assurance& value) {
  return {{"kind", name(value.kind)},
          {"verdict", name(value.verdict)},
          {"detail", value.detail},
          {"seconds", numberToJson(value.seconds)}};
}

Assurance readAssurance(const JsonReader& reader) {
  return {reader["kind"].word(parseAssuranceKind), reader["verdict"].word(parseAssuranceVerdict),
          reader["detail"].text(), reader["seconds"].number()};
}

Result<KernelFacts> kernelFactsFromJson(const Json& json) {
  return readJson(json, "kernel facts", readKernelFacts);
}
Result<DeviceInfo> deviceInfoFromJson(const Json& json) {
  return readJson(json, "device", readDeviceInfo);
}
Result<Baseline> baselineFromJson(const Json& json) {
  return readJson(json, "baseline", readBaseline);
}

}  // namespace swage::domain
