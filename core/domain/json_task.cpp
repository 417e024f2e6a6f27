// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <initializer_list>

#include "core/base/sha256.h"
#include "core/domain/json_reader.h"

namespace swage::domain {
namespace {

constexpr std::int64_t kSchema = 1;
constexpr std::string_view kNoChecker = "none";

std::string_view name(TaskKind kind) {
  return kind == TaskKind::KernelBench ? "kernelbench" : "module";
}

std::optional<TaskKind> parseTaskKind(std::string_view text) {
  for (const TaskKind kind : {TaskKind::KernelBench, TaskKind::Module}) {
    if (name(kind) == text) {
      return kind;
    }
  }
  return std::nullopt;
}

std::string_view name(ModuleMode mode) {
  return mode == ModuleMode::Train ? "train" : "eval";
}

std::optional<ModuleMode> parseModuleMode(std::string_view text) {
  for (const ModuleMode mode : {ModuleMode::Train, ModuleMode::Eval}) {
    if (name(mode) == text) {
      return mode;
    }
  }
  return std::nullopt;
}

// Members that C++ does not interpret travel through it unchanged.
std::string readExtra(const JsonReader& reader, std::initializer_list<std::string_view> known) {
  Json extra = Json::object();
  reader.eachMember([&](const std::string& key, const JsonReader& item) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      extra[key] = item.json();
    }
  });
  return extra.empty() ? std::string() : dumpJson(extra);
}

void addExtra(Json& json, const std::string& text) {
  if (const Result<Json> extra = parseJson(text.empty() ? "{}" : text); extra && extra->is_object()) {
    json.update(*extra);
  }
}

Json toJson(const TaskSource& source) {
  Json overrides = Json::object();
  for (const auto& [key, text] : source.overrides) {
    Result<Json> value = parseJson(text);
    overrides[key] = value ? std::move(*value) : Json(text);
  }
  Json json = {{"kind", name(source.kind)},
               {"file", source.file},
               {"class", source.className},
               {"sha256", source.sha256},
               {"set", overrides}};
  if (!source.hasChecker) {
    json["checker"] = kNoChecker;
  }
  addExtra(json, source.extraJson);
  return json;
}

TaskSource readTaskSource(const JsonReader& reader) {
  TaskSource source;
  source.kind = reader["kind"].word(parseTaskKind);
  source.file = reader["file"].text(kMaxName);
  source.className = reader["class"].text(kMaxName);
  source.sha256 = reader["sha256"].text(kMaxName);
  if (reader.has("set")) {
    reader["set"].eachMember([&](const std::string& key, const JsonReader& item) {
      source.overrides.emplace_back(key, dumpJson(item.json()));
    });
  }
  source.hasChecker = !reader.has("checker") || reader["checker"].text(kMaxName) != kNoChecker;
  source.extraJson = readExtra(reader, {"kind", "file", "class", "sha256", "set", "checker"});
  return source;
}

TaskBytes readTaskBytes(const JsonReader& reader) {
  return {reader["inputs"].integer(0), reader["parameters"].integer(0), reader["outputs"].integer(0),
          reader["intermediates"].integer(0)};
}

void checkGenerator(const JsonReader& reader, const Task& task) {
  for (const GraphInput& input : task.inputGenerator.inputs) {
    if (input.kind != InputKind::Constant) {
      reader.fail("must have no inputs other than constants");
      return;
    }
  }
  const auto isUserInput = [](const GraphInput& input) { return input.kind == InputKind::User; };
  const auto userInputs = std::count_if(task.graph.inputs.begin(), task.graph.inputs.end(), isUserInput);
  if (static_cast<std::size_t>(userInputs) != task.inputGenerator.outputs.size()) {
    reader.fail("must have as many outputs as the graph has user inputs");
  }
}

// What a node says of the model's text, which bundles of older versions do not have.
void removeText(Json& graph) {
  for (Json& node : graph["nodes"]) {
    node.erase("code");
    node.erase("name");
  }
}

}  // namespace

Json toJson(const Task& value) {
  const Json bytes = {{"inputs", value.bytes.inputs},
                      {"parameters", value.bytes.parameters},
                      {"outputs", value.bytes.outputs},
                      {"intermediates", value.bytes.intermediates}};
  Json json = {{"schema", kSchema},
               {"name", value.name},
               {"source", toJson(value.source)},
               {"mode", name(value.mode)},
               {"torch_version", value.torchVersion},
               {"seed", value.seed},
               {"graph", toJson(value.graph)},
               {"input_generator", toJson(value.inputGenerator)},
               {"bytes", bytes},
               {"warnings", value.warnings}};
  addExtra(json, value.extraJson);
  return json;
}

std::string taskId(const Task& task) {
  Json json = toJson(task);
  json.erase("warnings");
  json["source"].erase("file");
  json["source"].erase("path");
  json["source"].erase("checker");  // bundles of older versions have none
  removeText(json["graph"]);
  removeText(json["input_generator"]);
  return sha256Hex(dumpJson(json));
}

Task readTask(const JsonReader& reader) {
  Task task;
  if (reader["schema"].integer() != kSchema) {
    reader["schema"].fail("must be 1: this task was written by another version of Swage");
  }
  task.name = reader["name"].text(kMaxName);
  task.source = readTaskSource(reader["source"]);
  task.mode = reader["mode"].word(parseModuleMode);
  task.torchVersion = reader["torch_version"].text(kMaxName);
  task.seed = reader["seed"].integer();
  task.graph = readGraph(reader["graph"]);
  task.inputGenerator = readGraph(reader["input_generator"]);
  task.bytes = readTaskBytes(reader["bytes"]);
  if (reader.has("warnings")) {
    task.warnings = reader["warnings"].list([](const JsonReader& item) { return item.text(); });
  }
  task.extraJson = readExtra(reader, {"schema", "name", "source", "mode", "torch_version", "seed", "graph",
                                      "input_generator", "bytes", "warnings"});
  checkGenerator(reader["input_generator"], task);
  if (!reader.hasFailed()) {
    task.id = taskId(task);
  }
  return task;
}

Result<Task> taskFromJson(const Json& json) {
  return readJson(json, "task", readTask);
}

}  // namespace swage::domain
