// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <tuple>

#include "core/domain/json_reader.h"
#include "core/export/kernelbench.h"

namespace swage::exporting {
namespace {

using domain::Json;
using domain::JsonReader;

constexpr int kSchema = 1;
constexpr std::size_t kMaxRows = 10'000;
constexpr int kMaxNumber = 1'000'000;

Json textOrNull(const std::string& text) {
  return text.empty() ? Json() : Json(text);
}

std::string optionalText(const JsonReader& reader, std::string_view member) {
  return reader.has(member) ? reader[member].text() : std::string();
}

std::vector<std::string> texts(const JsonReader& reader) {
  return reader.list([](const JsonReader& item) { return item.text(); });
}

// The places of a document are for people and other programs; it is read back for reports and to go on.
domain::Speedup readSpeedup(const JsonReader& parent, std::string_view member) {
  if (!parent.has(member)) {
    return {};
  }
  const JsonReader reader = parent[member];
  return {reader["value"].number(), reader["low"].number(), reader["high"].number()};
}

Json speedupJson(const domain::Speedup& speedup) {
  return speedup.isKnown() ? Json{{"value", speedup.value}, {"low", speedup.low}, {"high", speedup.high}} : Json();
}

Json timesJson(double timeNs, double lowNs, double highNs) {
  return {{"median", timeNs}, {"low", lowNs}, {"high", highNs}};
}

Json toJson(const KernelBenchWay& way) {
  return {{"mode", way.mode},
          {"time_ns", timesJson(way.timeNs, way.lowNs, way.highNs)},
          {"accuracy", domain::name(way.accuracy)},
          {"failure", textOrNull(way.failure)}};
}

KernelBenchWay readWay(const JsonReader& reader) {
  const JsonReader times = reader["time_ns"];
  return {reader["mode"].text(),
          times["median"].number(),
          times["low"].number(),
          times["high"].number(),
          reader["accuracy"].word(domain::parseAccuracyClass),
          optionalText(reader, "failure")};
}

Json toJson(const KernelBenchKernel& kernel) {
  return {{"candidate", kernel.candidate.value()},
          {"time_ns", timesJson(kernel.timeNs, kernel.lowNs, kernel.highNs)},
          {"speedup", speedupJson(kernel.speedup)},
          {"accuracy", domain::name(kernel.accuracy)},
          {"patterns", kernel.patterns},
          {"relative_error", kernel.relativeError},
          {"eager_relative_error", kernel.eagerRelativeError},
          {"roof_share", kernel.roofShare > 0.0 ? Json(kernel.roofShare) : Json()},
          {"cell", textOrNull(kernel.cell)},
          {"aten", kernel.aten},
          {"algebraic", kernel.isAlgebraic},
          {"captured", kernel.isCaptured}};
}

KernelBenchKernel readKernel(const JsonReader& reader) {
  const JsonReader times = reader["time_ns"];
  KernelBenchKernel kernel;
  kernel.candidate = domain::CandidateId(reader["candidate"].integer());
  kernel.timeNs = times["median"].number();
  kernel.lowNs = times["low"].number();
  kernel.highNs = times["high"].number();
  kernel.speedup = readSpeedup(reader, "speedup");
  kernel.accuracy = reader["accuracy"].word(domain::parseAccuracyClass);
  kernel.patterns = texts(reader["patterns"]);
  kernel.relativeError = reader["relative_error"].number();
  kernel.eagerRelativeError = reader["eager_relative_error"].number();
  kernel.roofShare = reader.has("roof_share") ? reader["roof_share"].number() : 0.0;
  kernel.cell = optionalText(reader, "cell");
  kernel.aten = texts(reader["aten"]);
  kernel.isAlgebraic = reader["algebraic"].boolean();
  kernel.isCaptured = reader.has("captured") && reader["captured"].boolean();
  return kernel;
}

Json failureJson(const KernelBenchRow& row) {
  return row.failedStage.empty()
             ? Json()
             : Json{{"stage", row.failedStage}, {"kind", row.failureKind}, {"message", row.failure}};
}

void readFailure(KernelBenchRow& row, const JsonReader& reader) {
  if (reader.has("failure")) {
    const JsonReader failure = reader["failure"];
    row.failedStage = failure["stage"].text();
    row.failureKind = failure["kind"].text();
    row.failure = failure["message"].text();
  }
}

KernelBenchRow readRow(const JsonReader& reader) {
  KernelBenchRow row;
  row.level = reader["level"].smallInteger(1, kMaxNumber);
  row.problem = reader["problem"].smallInteger(1, kMaxNumber);
  row.name = reader["name"].text();
  row.run = reader.has("run") ? domain::RunId(reader["run"].integer()) : domain::RunId();
  row.device = optionalText(reader, "device");
  reader["constants"].eachMember([&row](const std::string& name, const JsonReader& value) {
    row.constants.emplace_back(name, domain::dumpJson(value.json()));
  });
  row.operators = texts(reader["operators"]);
  row.baselines = reader["baselines"].list(readWay);
  row.baselineMode = optionalText(reader, "baseline");
  row.baselineAccuracy = reader["baseline_accuracy"].word(domain::parseAccuracyClass);
  if (reader.has("kernel")) {
    row.kernel = readKernel(reader["kernel"]);
  }
  row.alwaysAten = texts(reader["aten_in_every_candidate"]);
  row.candidates = reader["candidates"].integer(0);
  row.correct = reader["correct"].integer(0);
  row.searchSeconds = reader["search_seconds"].number();
  row.seconds = reader["seconds"].number();
  row.exported = optionalText(reader, "exported");
  row.exportFile = optionalText(reader, "export_file");
  const JsonReader check = reader["kernelbench"];
  row.check = {check["verdict"].text(), check["trials"].text(), optionalText(check, "problem"),
               optionalText(check, "note"), check.has("rejected_way") ? check["rejected_way"].text() : std::string()};
  row.doubts = texts(reader["doubts"]);
  row.isDegenerate = reader["degenerate"].boolean();
  readFailure(row, reader);
  return row;
}

Json toJson(const KernelBenchSettings& settings) {
  return {{"target", settings.target},
          {"time_budget_seconds", settings.timeBudgetSeconds},
          {"max_evaluations", settings.maxEvaluations},
          {"seed", settings.seed},
          {"largest_tensor_bytes", settings.largestTensorBytes},
          {"baselines", settings.baselines}};
}

KernelBenchSettings readSettings(const JsonReader& reader) {
  return {
      reader["target"].text(),          reader["time_budget_seconds"].number(),    reader["max_evaluations"].integer(0),
      reader["seed"].unsignedInteger(), reader["largest_tensor_bytes"].integer(0), texts(reader["baselines"])};
}

Json toJson(const KernelBenchSummary& summary) {
  Json json = {{"title", summary.title},
               {"tasks", summary.tasks},
               {"kernels", summary.kernels},
               {"accepted", summary.accepted},
               {"geometric_mean", summary.geometricMean},
               {"median", summary.median},
               {"strict_geometric_mean", summary.strictGeometricMean},
               {"exports_geometric_mean", summary.exportsGeometricMean},
               {"fast_1", summary.fast1},
               {"fast_1.5", summary.fast15},
               {"fast_2", summary.fast2},
               {"losses", Json::array()}};
  for (const KernelBenchLoss& loss : summary.losses) {
    json["losses"].push_back({{"level", loss.level},
                              {"problem", loss.problem},
                              {"name", loss.name},
                              {"speedup", speedupJson(loss.speedup)},
                              {"why", loss.why}});
  }
  return json;
}

auto place(const KernelBenchRow& row) {
  return std::pair(row.level, row.problem);
}

}  // namespace

void KernelBenchDocument::put(KernelBenchRow row) {
  const auto at = std::lower_bound(rows.begin(), rows.end(), place(row),
                                   [](const KernelBenchRow& one, const auto& wanted) { return place(one) < wanted; });
  if (at != rows.end() && place(*at) == place(row)) {
    *at = std::move(row);
  } else {
    rows.insert(at, std::move(row));
  }
}

const KernelBenchRow* KernelBenchDocument::find(int level, int problem) const {
  const auto at = std::find_if(rows.begin(), rows.end(),
                               [&](const KernelBenchRow& row) { return row.level == level && row.problem == problem; });
  return at == rows.end() ? nullptr : &*at;
}

Json toJson(const KernelBenchRow& row) {
  Json constants = Json::object();
  for (const auto& [name, value] : row.constants) {
    constants[name] = Json::parse(value, nullptr, false);
  }
  Json baselines = Json::array();
  for (const KernelBenchWay& way : row.baselines) {
    baselines.push_back(toJson(way));
  }
  return {{"level", row.level},
          {"problem", row.problem},
          {"name", row.name},
          {"run", row.run.isValid() ? Json(row.run.value()) : Json()},
          {"device", textOrNull(row.device)},
          {"constants", std::move(constants)},
          {"operators", row.operators},
          {"baselines", std::move(baselines)},
          {"baseline", textOrNull(row.baselineMode)},
          {"baseline_accuracy", domain::name(row.baselineAccuracy)},
          {"kernel", row.kernel ? toJson(*row.kernel) : Json()},
          {"aten_in_every_candidate", row.alwaysAten},
          {"candidates", row.candidates},
          {"correct", row.correct},
          {"search_seconds", row.searchSeconds},
          {"seconds", row.seconds},
          {"exported", textOrNull(row.exported)},
          {"export_file", textOrNull(row.exportFile)},
          {"kernelbench",
           {{"verdict", row.check.verdict},
            {"trials", row.check.trials},
            {"problem", textOrNull(row.check.problem)},
            {"note", textOrNull(row.check.note)},
            {"rejected_way", textOrNull(row.check.rejectedWay)}}},
          {"doubts", row.doubts},
          {"degenerate", row.isDegenerate},
          {"failure", failureJson(row)}};
}

Json toJson(const KernelBenchDocument& document) {
  Json json = {{"swage_kernelbench", kSchema},
               {"settings", toJson(document.settings)},
               {"device", textOrNull(document.device)},
               {"torch_version", document.torchVersion},
               {"swage_version", document.swageVersion},
               {"tasks", Json::array()},
               {"summary", Json::array()}};
  for (const KernelBenchRow& row : document.rows) {
    json["tasks"].push_back(toJson(row));
  }
  for (const KernelBenchSummary& summary : kernelBenchSummaries(document)) {
    json["summary"].push_back(toJson(summary));
  }
  return json;
}

Result<KernelBenchDocument> kernelBenchFromJson(const Json& json) {
  return domain::readJson(json, "document", [](const JsonReader& reader) {
    KernelBenchDocument document;
    static_cast<void>(reader["swage_kernelbench"].smallInteger(kSchema, kSchema));
    document.settings = readSettings(reader["settings"]);
    document.device = optionalText(reader, "device");
    document.torchVersion = reader["torch_version"].text();
    document.swageVersion = reader["swage_version"].text();
    for (KernelBenchRow& row : reader["tasks"].list(readRow, kMaxRows)) {
      document.put(std::move(row));
    }
    return document;
  });
}

}  // namespace swage::exporting
