// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/domain/checks.h"
#include "core/domain/json_reader.h"

namespace swage::domain {
namespace {

constexpr std::size_t kMaxMapRank = 5;
constexpr std::int64_t kMaxExtent = std::numeric_limits<std::uint32_t>::max();

Json toJson(const Dim3& value) {
  return {value.x, value.y, value.z};
}

Dim3 readDim3(const JsonReader& reader) {
  const std::vector<std::int64_t> extents =
      reader.list([](const JsonReader& item) { return item.integer(0, kMaxExtent); }, 3);
  if (extents.size() != 3) {
    reader.fail("must be a list of three sizes");
    return {};
  }
  return {static_cast<std::uint32_t>(extents[0]), static_cast<std::uint32_t>(extents[1]),
          static_cast<std::uint32_t>(extents[2])};
}

// The driver's numbers are spelled out as bytes, so that a person can read them.
constexpr std::array<int, 4> kSwizzles{0, 32, 64, 128};
constexpr std::array<int, 4> kPromotions{0, 64, 128, 256};

template <class Enum>
Enum readBytes(const JsonReader& reader, const std::array<int, 4>& all) {
  const auto* const found = std::find(all.begin(), all.end(), reader.integer());
  if (found == all.end()) {
    reader.fail(fmt::format("must be {}", fmt::join(all, ", ")));
    return Enum{};
  }
  return static_cast<Enum>(found - all.begin());
}

Json toJson(const TensorMap& map) {
  return {{"buffer", map.buffer.value()},
          {"offset", map.offset},
          {"element", name(map.element)},
          {"sizes", map.sizes},
          {"strides", map.strides},
          {"box", map.box},
          {"element_strides", map.elementStrides},
          {"swizzle", kSwizzles[static_cast<std::size_t>(map.swizzle)]},
          {"promotion", kPromotions[static_cast<std::size_t>(map.promotion)]},
          {"fill", map.fill == MapFill::Zero ? "zero" : "nan"}};
}

TensorMap readTensorMap(const JsonReader& reader) {
  const auto integers = [&](std::string_view member) {
    return reader[member].list([](const JsonReader& item) { return item.integer(); }, kMaxMapRank);
  };
  const auto parseFill = [](std::string_view text) {
    return text == "zero"  ? std::optional(MapFill::Zero)
           : text == "nan" ? std::optional(MapFill::NotANumber)
                           : std::nullopt;
  };
  TensorMap map;
  map.buffer = readValueId(reader["buffer"]);
  map.offset = reader["offset"].integer();
  map.element = reader["element"].word(parseMapElement);
  map.sizes = integers("sizes");
  map.strides = integers("strides");
  map.box = integers("box");
  map.elementStrides = integers("element_strides");
  map.swizzle = readBytes<MapSwizzle>(reader["swizzle"], kSwizzles);
  map.promotion = readBytes<MapPromotion>(reader["promotion"], kPromotions);
  map.fill = reader["fill"].word(parseFill);
  return map;
}

struct KernelArgumentWriter {
  Json operator()(ValueId id) const { return {{"buffer", id.value()}}; }
  Json operator()(Int32 value) const { return {{"i32", value.value}}; }
  Json operator()(std::int64_t value) const { return {{"i64", value}}; }
  Json operator()(float value) const { return {{"f32", numberToJson(static_cast<double>(value))}}; }
  Json operator()(double value) const { return {{"f64", numberToJson(value)}}; }
  Json operator()(const TensorMap& map) const { return {{"map", toJson(map)}}; }
};

KernelArgument readKernelArgument(const JsonReader& reader) {
  if (reader.json().is_object() && reader.json().size() == 1) {
    const std::string& key = reader.json().begin().key();
    const JsonReader member = reader[key];
    if (key == "buffer") {
      return readValueId(member);
    }
    if (key == "i32") {
      return Int32{member.smallInteger()};
    }
    if (key == "i64") {
      return member.integer();
    }
    if (key == "f32") {
      return static_cast<float>(member.number());
    }
    if (key == "f64") {
      return member.number();
    }
    if (key == "map") {
      return readTensorMap(member);
    }
  }
  reader.fail("must have one member: buffer, i32, i64, f32, f64 or map");
  return ValueId();
}

Json toJson(const KernelStep& step) {
  Json arguments = Json::array();
  for (const KernelArgument& argument : step.arguments) {
    arguments.push_back(std::visit(KernelArgumentWriter{}, argument));
  }
  return {{"entry", step.entry},
          {"grid", toJson(step.grid)},
          {"block", toJson(step.block)},
          {"cluster", toJson(step.cluster)},
          {"shared", step.dynamicSharedBytes},
          {"cooperative", step.cooperative},
          {"arguments", arguments}};
}

KernelStep readKernelStep(const JsonReader& reader) {
  return {reader["entry"].text(kMaxName),
          readDim3(reader["grid"]),
          readDim3(reader["block"]),
          readDim3(reader["cluster"]),
          static_cast<std::uint32_t>(reader["shared"].integer(0, kMaxExtent)),
          reader["cooperative"].boolean(),
          reader["arguments"].list(readKernelArgument)};
}

struct StepWriter {
  Json operator()(const KernelStep& step) const { return {{"kernel", toJson(step)}}; }
  Json operator()(const AtenStep& step) const { return {{"aten", domain::toJson(step.node)}}; }
  Json operator()(const ZeroStep& step) const { return {{"zero", step.buffer.value()}}; }
};

PlanStep readStep(const JsonReader& reader) {
  if (reader.json().is_object() && reader.json().size() == 1) {
    const std::string& key = reader.json().begin().key();
    if (key == "kernel") {
      return readKernelStep(reader[key]);
    }
    if (key == "aten") {
      return AtenStep{readNode(reader[key])};
    }
    if (key == "zero") {
      return ZeroStep{readValueId(reader[key])};
    }
  }
  reader.fail("must have one member: kernel, aten or zero");
  return ZeroStep{};
}

Json idsToJson(const std::vector<ValueId>& ids) {
  Json list = Json::array();
  for (const ValueId id : ids) {
    list.push_back(id.value());
  }
  return list;
}

SourcePart readSourcePart(const JsonReader& reader) {
  return {reader["source"].text(), reader["entries"].list([](const JsonReader& item) { return item.text(kMaxName); }),
          reader["lines"].list(readProgramLines)};
}

}  // namespace

Json toJson(const LaunchPlan& value) {
  Json buffers = Json::array();
  for (const TensorType& buffer : value.buffers) {
    buffers.push_back(toJson(buffer));
  }
  Json steps = Json::array();
  for (const PlanStep& step : value.steps) {
    steps.push_back(std::visit(StepWriter{}, step));
  }
  Json json = {{"buffers", buffers},
               {"inputs", idsToJson(value.inputs)},
               {"outputs", idsToJson(value.outputs)},
               {"steps", steps}};
  if (value.isCaptured) {
    json["captured"] = true;
  }
  return json;
}

LaunchPlan readLaunchPlan(const JsonReader& reader) {
  LaunchPlan plan{reader["buffers"].list(readTensorType), reader["inputs"].list(readValueId),
                  reader["outputs"].list(readValueId), reader["steps"].list(readStep),
                  reader.has("captured") && reader["captured"].boolean()};
  if (!reader.hasFailed()) {
    if (const std::string defect = findDefect(plan); !defect.empty()) {
      reader.fail("cannot be used: " + defect);
    }
  }
  return plan;
}

Json toJson(const Program& value) {
  Json json = {{"language", name(value.language)},
               {"source", value.source},
               {"plan", toJson(value.plan)},
               {"flags", value.compileFlags}};
  for (const SourcePart& part : value.parts) {
    Json lines = Json::array();
    for (const ProgramLines& range : part.lines) {
      lines.push_back(toJson(range));
    }
    json["parts"].push_back({{"source", part.source}, {"entries", part.entries}, {"lines", std::move(lines)}});
  }
  return json;
}

Program readProgram(const JsonReader& reader) {
  Program program{reader["language"].word(parseLanguage), reader["source"].text(), readLaunchPlan(reader["plan"]),
                  reader["flags"].list([](const JsonReader& item) { return item.text(kMaxName); })};
  if (reader.has("parts")) {
    program.parts = reader["parts"].list(readSourcePart);
  }
  return program;
}

Json toJson(const Genome& value) {
  Json regions = Json::array();
  for (const RegionGene& region : value.regions) {
    regions.push_back({{"nodes", region.nodes}, {"pattern", region.pattern}, {"parameters", region.parameters}});
  }
  Json json = {{"regions", regions}};
  for (const Rewrite& rewrite : value.rewrites) {
    json["rewrites"].push_back({{"rule", rewrite.rule}, {"value", rewrite.value.value()}, {"where", rewrite.where}});
  }
  return json;
}

Genome readGenome(const JsonReader& reader) {
  const auto readRegion = [](const JsonReader& region) {
    RegionGene gene;
    gene.nodes = region["nodes"].list([](const JsonReader& item) { return item.smallInteger(0); });
    if (!std::is_sorted(gene.nodes.begin(), gene.nodes.end(), std::less_equal<>())) {
      region["nodes"].fail("must ascend");
    }
    gene.pattern = region["pattern"].text(kMaxName);
    region["parameters"].eachMember(
        [&](const std::string& key, const JsonReader& item) { gene.parameters.emplace(key, item.integer()); });
    return gene;
  };
  const auto readRewrite = [](const JsonReader& rewrite) {
    return Rewrite{rewrite["rule"].text(kMaxName), readValueId(rewrite["value"]), rewrite["where"].text()};
  };
  return {reader["regions"].list(readRegion),
          reader.has("rewrites") ? reader["rewrites"].list(readRewrite) : std::vector<Rewrite>()};
}

Result<LaunchPlan> launchPlanFromJson(const Json& json) {
  return readJson(json, "plan", readLaunchPlan);
}
Result<Program> programFromJson(const Json& json) {
  return readJson(json, "program", readProgram);
}
Result<Genome> genomeFromJson(const Json& json) {
  return readJson(json, "genome", readGenome);
}

}  // namespace swage::domain
