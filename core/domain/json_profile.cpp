// SPDX-License-Identifier: Apache-2.0
#include "core/domain/json_reader.h"

namespace swage::domain {
namespace {

constexpr std::size_t kMaxKernels = 4096;
constexpr std::int64_t kMaxControl = (1 << 21) - 1;

Json metricsToJson(const std::vector<ProfileMetric>& metrics) {
  Json object = Json::object();
  for (const ProfileMetric& metric : metrics) {
    object[metric.name] = numberToJson(metric.value);
  }
  return object;
}

std::vector<ProfileMetric> readMetrics(const JsonReader& reader) {
  std::vector<ProfileMetric> metrics;
  reader.eachMember([&](const std::string& name, const JsonReader& value) {
    metrics.push_back({name, value.number()});
  });
  return metrics;
}

Json toJson(const InstructionSamples& value) {
  Json json = {{"offset", value.offset},
               {"text", value.text},
               {"line", value.line},
               {"samples", value.samples},
               {"stalls", metricsToJson(value.stalls)}};
  if (value.control) {
    json["control"] = *value.control;
  }
  return json;
}

InstructionSamples readInstruction(const JsonReader& reader) {
  InstructionSamples read = {reader["offset"].integer(0), reader["text"].text(kMaxName), reader["line"].smallInteger(0),
                             reader["samples"].integer(0), readMetrics(reader["stalls"])};
  if (reader.has("control")) {
    read.control = static_cast<std::uint32_t>(reader["control"].integer(0, kMaxControl));
  }
  return read;
}

Json toJson(const KernelProfile& value) {
  Json instructions = Json::array();
  for (const InstructionSamples& instruction : value.instructions) {
    instructions.push_back(toJson(instruction));
  }
  return {{"entry", value.entry},
          {"launches", value.launches},
          {"duration_ns", numberToJson(value.durationNs)},
          {"registers", value.registers},
          {"spill_bytes", value.spillBytes},
          {"shared_bytes", value.sharedBytes},
          {"theoretical_occupancy", numberToJson(value.theoreticalOccupancy)},
          {"occupancy_limiter", value.occupancyLimiter},
          {"metrics", metricsToJson(value.metrics)},
          {"instructions", std::move(instructions)}};
}

KernelProfile readKernelProfile(const JsonReader& reader) {
  return {reader["entry"].text(kMaxName),           reader["launches"].smallInteger(0),
          reader["duration_ns"].number(),           reader["registers"].smallInteger(0),
          reader["spill_bytes"].smallInteger(0),    reader["shared_bytes"].integer(0),
          reader["theoretical_occupancy"].number(), reader["occupancy_limiter"].text(kMaxName),
          readMetrics(reader["metrics"]),           reader["instructions"].list(readInstruction)};
}

}  // namespace

Json toJson(const Profile& value) {
  Json kernels = Json::array();
  for (const KernelProfile& kernel : value.kernels) {
    kernels.push_back(toJson(kernel));
  }
  return {{"source", name(value.source)},
          {"limitation", value.limitation},
          {"kernels", std::move(kernels)},
          {"conditions", toJson(value.conditions)}};
}

Profile readProfile(const JsonReader& reader) {
  return {reader["source"].word(parseProfileSource), reader["limitation"].text(),
          reader["kernels"].list(readKernelProfile, kMaxKernels), readDeviceConditions(reader["conditions"])};
}

Result<Profile> profileFromJson(const Json& json) {
  return readJson(json, "profile", readProfile);
}

}  // namespace swage::domain
