// SPDX-License-Identifier: Apache-2.0
#include "app/cli/mcp_archive.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "app/cli/compare_view.h"
#include "app/cli/look_commands.h"
#include "app/cli/mcp_text.h"
#include "app/cli/views.h"
#include "core/base/files.h"
#include "core/domain/filter.h"
#include "core/domain/listing.h"
#include "core/domain/record/winner.h"
#include "core/engine/export_facts.h"
#include "core/engine/export_files.h"
#include "core/judge/advice_json.h"
#include "core/models/prompt.h"
#include "core/store/task_bundle.h"

namespace swage::cli {
namespace {

using domain::Json;

constexpr std::size_t kMostOfEvaluation = 8192;
constexpr std::size_t kMostOfTaskSource = 32768;
constexpr std::size_t kMostMetrics = 80;  // of a kernel

std::string uriOf(domain::CandidateId id, std::string_view part) {
  return fmt::format("swage://candidate/{}/{}", id.value(), part);
}

// Without the samples of single instructions, which are many.
Json countersOf(const domain::Profile& profile) {
  Json json{{"source", domain::name(profile.source)}, {"limitation", profile.limitation}, {"kernels", Json::array()}};
  for (const domain::KernelProfile& kernel : profile.kernels) {
    Json metrics = Json::object();
    for (std::size_t i = 0; i < std::min(kernel.metrics.size(), kMostMetrics); ++i) {
      metrics[kernel.metrics[i].name] = kernel.metrics[i].value;
    }
    json["kernels"].push_back({{"entry", kernel.entry},
                               {"launches", kernel.launches},
                               {"duration_ns", kernel.durationNs},
                               {"registers", kernel.registers},
                               {"spill_bytes", kernel.spillBytes},
                               {"shared_bytes", kernel.sharedBytes},
                               {"occupancy", kernel.theoreticalOccupancy},
                               {"occupancy_limiter", kernel.occupancyLimiter},
                               {"metrics", std::move(metrics)}});
  }
  return json;
}

Json adviceJson(const std::vector<domain::Advice>& advice, std::size_t most) {
  Json json = Json::array();
  for (std::size_t i = 0; i < std::min(advice.size(), most); ++i) {
    json.push_back(judge::toJson(advice[i]));
  }
  return json;
}

Json verdictOf(const services::CandidateDetail& detail) {
  Json json{{"status", domain::name(detail.row.status)}, {"summary", detail.row.summary}, {"evaluation", nullptr}};
  if (!detail.evaluation) {
    return json;
  }
  if (domain::asCorrect(*detail.evaluation) == nullptr) {
    json["why"] = limited(models::repairMessage(*detail.evaluation, {}), kMostOfMcpText, "`swage show` has the rest");
  }
  if (Json whole = domain::toJson(*detail.evaluation); domain::dumpJson(whole).size() <= kMostOfEvaluation) {
    json["evaluation"] = std::move(whole);
  }
  return json;
}

Json cellJson(const domain::CellSummary& cell) {
  return {{"cell", cell.cell.name()},
          {"what", describeCell(cell.cell)},
          {"tried", cell.tried},
          {"correct", cell.correct},
          {"best", cell.best.isValid() ? Json(cell.best.value()) : Json()},
          {"time_ns", cell.bestTimeNs},
          {"speedup", domain::toJson(cell.speedup)},
          {"is_best_of_run", cell.isOverallBest}};
}

// swage://candidate/17/source
struct Address {
  domain::CandidateId candidate;
  std::string part;
};
std::optional<Address> parseAddress(std::string_view uri) {
  constexpr std::string_view kHead = "swage://candidate/";
  if (!uri.starts_with(kHead)) {
    return std::nullopt;
  }
  uri.remove_prefix(kHead.size());
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(uri.data(), uri.data() + uri.size(), number);
  const auto length = static_cast<std::size_t>(end - uri.data());
  if (error != std::errc() || number <= 0 || length >= uri.size() || uri[length] != '/') {
    return std::nullopt;
  }
  return Address{domain::CandidateId(number), std::string(uri.substr(length + 1))};
}

Error noResource(const std::string& uri) {
  return Error(ErrorKind::NotFound, fmt::format("there is no resource '{}'", uri.substr(0, 200)));
}

std::string_view sourceType(domain::Language language) {
  return domain::factsOf(language).device == domain::DeviceKind::Cpu ? "text/x-c++src" : "text/x-cuda";
}

}  // namespace

Result<engine::RecordServiceImpl> McpArchive::open() const {
  if (std::error_code ignored; !std::filesystem::exists(m_project / "runs.sqlite", ignored)) {
    return Error(ErrorKind::NotFound, "the project has no run yet", "open_task begins one where that is allowed");
  }
  engine::RecordServiceImpl record;
  SWAGE_TRY(record.open(m_project));
  return record;
}

domain::RunId McpArchive::newestRun() const {
  domain::RunId newest;
  if (const auto record = open()) {
    if (const auto runs = record->runs()) {
      for (const services::RunSummary& run : *runs) {
        newest = std::max(newest, run.id);
      }
    }
  }
  return newest;
}

Result<Json> McpArchive::task(domain::RunId run) const {
  SWAGE_TRY_ASSIGN(const engine::RecordServiceImpl record, open());
  SWAGE_TRY_ASSIGN(const services::RunSummary summary, record.run(run));
  SWAGE_TRY_ASSIGN(const std::vector<domain::Baseline> baselines, record.baselines(run));
  SWAGE_TRY_ASSIGN(const store::Record stored, store::Record::open(m_project, store::Record::Mode::ReadOnly));
  SWAGE_TRY_ASSIGN(const store::RunRow row, stored.run(run));
  SWAGE_TRY_ASSIGN(const domain::Task task, stored.task(row.taskId));
  models::PromptFacts facts{.task = task, .device = row.device};
  facts.language = domain::standardLanguage(row.device.kind);
  if (const auto bundle = store::readTaskBundle(row.bundlePath)) {
    facts.source = readTextFile(bundle->applied, kMostOfTaskSource).value_or(std::string());
  }
  const models::ChatRequest request = models::firstRequest(facts);
  Json json{{"project", m_project.string()},
            {"run", toJson(summary)},
            {"language", domain::name(facts.language)},
            {"how_to_write_a_kernel", limited(request.system, kMostOfMcpText, "the rest is not shown")},
            {"task", limited(request.messages.front().text, kMostOfMcpText, "the rest is not shown")},
            {"baselines", Json::array()}};
  for (const domain::Baseline& baseline : baselines) {
    json["baselines"].push_back(domain::toJson(baseline));
  }
  return json;
}

Result<Json> McpArchive::archive(domain::RunId run, const Page& page) const {
  auto filter = domain::parseFilter(page.filter, domain::candidateFilterKeys());
  if (!filter) {
    return domain::usageError(filter.error(), page.filter);
  }
  SWAGE_TRY_ASSIGN(const engine::RecordServiceImpl record, open());
  SWAGE_TRY_ASSIGN(const services::RunSummary summary, record.run(run));
  SWAGE_TRY_ASSIGN(const std::vector<services::CellSummary> cells, record.cells(run, page.island));
  services::CandidateQuery query{.run = run};
  query.filter = std::move(*filter);
  query.sort = services::CandidateColumn::Speedup;
  query.descending = true;
  query.limit = page.limit;
  SWAGE_TRY_ASSIGN(const std::vector<services::CandidateRow> rows, record.candidates(query));
  SWAGE_TRY_ASSIGN(const std::int64_t count, record.candidateCount(query));
  Json json{{"run", toJson(summary)}, {"cells", Json::array()}, {"candidates", Json::array()}};
  for (const services::CellSummary& cell : cells) {
    if (cell.tried > 0) {
      json["cells"].push_back(cellJson(cell));
    }
  }
  for (const services::CandidateRow& row : rows) {
    json["candidates"].push_back(toJson(row));
  }
  json["candidates_left_out"] = count - static_cast<std::int64_t>(rows.size());
  return json;
}

Result<std::vector<domain::Advice>> McpArchive::adviceOf(const engine::RecordServiceImpl& record,
                                                         domain::CandidateId id) const {
  SWAGE_TRY_ASSIGN(const judge::RuleBook rules, judge::RuleBook::load(process::ruleFolders(m_locations, m_project)));
  return record.advice(id, rules);
}

// In the form that a submission has. No value: it cannot be said in that form.
Result<std::optional<std::string>> McpArchive::planText(const services::CandidateDetail& detail) const {
  SWAGE_TRY_ASSIGN(const store::Record stored, store::Record::open(m_project, store::Record::Mode::ReadOnly));
  SWAGE_TRY_ASSIGN(const store::RunRow run, stored.run(detail.row.run));
  SWAGE_TRY_ASSIGN(const domain::Task task, stored.task(run.taskId));
  return models::shortPlan(detail.program.plan, task.graph);
}

Result<Json> McpArchive::candidate(domain::CandidateId id) const {
  SWAGE_TRY_ASSIGN(const engine::RecordServiceImpl record, open());
  SWAGE_TRY_ASSIGN(const services::CandidateDetail detail, record.candidate(id));
  SWAGE_TRY_ASSIGN(const std::optional<domain::Profile> profile, record.profile(id));
  SWAGE_TRY_ASSIGN(const std::vector<domain::Advice> advice, adviceOf(record, id));
  SWAGE_TRY_ASSIGN(const std::optional<std::string> plan, planText(detail));
  constexpr std::size_t kMostAdvice = 3;
  Json json = toJson(detail.row);
  json["language"] = domain::name(detail.program.language);
  json["source"] = limited(detail.program.source, kMostOfMcpText, "the whole is " + uriOf(id, "source"));
  json["plan"] = plan && plan->size() <= kMostOfMcpText ? Json::parse(*plan, nullptr, false) : Json();
  json["verdict"] = verdictOf(detail);
  json["kernels"] = Json::array();
  for (const domain::KernelFacts& kernel : detail.kernels) {
    json["kernels"].push_back(domain::toJson(kernel));
  }
  json["counters"] = profile ? countersOf(*profile) : Json();
  json["advice"] = adviceJson(advice, kMostAdvice);
  return json;
}

Result<Json> McpArchive::advice(domain::CandidateId id) const {
  SWAGE_TRY_ASSIGN(const engine::RecordServiceImpl record, open());
  SWAGE_TRY_ASSIGN(const std::vector<domain::Advice> advice, adviceOf(record, id));
  constexpr std::size_t kMostAdvice = 20;
  return Json{{"candidate", id.value()}, {"advice", adviceJson(advice, kMostAdvice)}};
}

Result<Json> McpArchive::comparison(domain::CandidateId a, domain::CandidateId b) const {
  SWAGE_TRY_ASSIGN(const ComparedSide left, readCompared(m_project, a));
  SWAGE_TRY_ASSIGN(const ComparedSide right, readCompared(m_project, b));
  ComparisonDiffs diffs = diffsOf(left, right, true, false);
  if (diffs.source) {
    diffs.source = limited(*diffs.source, kMostOfMcpText, "`swage compare --source` has the rest");
  }
  return comparisonJson(left, right, diffs);
}

Result<Json> McpArchive::exported(domain::CandidateId id, services::ExportFormat format,
                                  const std::filesystem::path& folder) const {
  SWAGE_TRY_ASSIGN(const store::Record record, store::Record::open(m_project, store::Record::Mode::ReadOnly));
  SWAGE_TRY_ASSIGN(const engine::ExportEvidence evidence, engine::readExportEvidence(record, id));
  SWAGE_TRY_ASSIGN(const services::ExportFiles files, engine::makeExportFiles(record, id, format));
  Json json{{"candidate", id.value()},
            {"format", services::name(format)},
            {"files", Json::array()},
            {"gates", Json::array()}};
  for (const services::ExportGate& gate : engine::exportFacts(evidence).gates) {
    json["gates"].push_back(toJson(gate));
  }
  std::filesystem::path target;
  if (!folder.empty()) {
    const bool isFile = format == services::ExportFormat::ModelNew;
    target = folder / fmt::format("candidate-{}{}", id.value(), isFile ? ".py" : "");
    if (std::error_code failed; !std::filesystem::create_directories(folder, failed) && failed) {
      return Error(ErrorKind::Io, fmt::format("cannot make '{}': {}", folder.string(), failed.message()));
    }
    SWAGE_TRY(engine::writeExportFiles(files, target, services::ExistingFiles::Replace));
    json["written_to"] = target.string();
  }
  std::size_t left = kMostOfMcpText;
  for (const services::ExportFile& file : files.files) {
    Json one{{"name", file.name}, {"bytes", file.content.size()}};
    if (file.content.size() <= left) {
      left -= file.content.size();
      one["content"] = file.content;
    } else if (target.empty()) {
      return Error(ErrorKind::InvalidInput, "the export is too large to be told",
                   fmt::format("a person can write it: swage export {}", id.value()));
    }
    json["files"].push_back(std::move(one));
  }
  return json;
}

std::vector<mcp::Resource> McpArchive::templates() {
  return {{"swage://candidate/{candidate}/source", "source", "Device code of a candidate", "text/plain"},
          {"swage://candidate/{candidate}/plan", "plan", "Launch plan of a candidate, as a submission has it",
           "application/json"},
          {"swage://candidate/{candidate}/assembly", "assembly", "What the compiler made of it", "text/plain"},
          {"swage://candidate/{candidate}/profile", "profile", "All counters and samples of its profile",
           "application/json"}};
}

// The sources of the elites; the templates have everything.
std::vector<mcp::Resource> McpArchive::resources(domain::RunId run) const {
  std::vector<mcp::Resource> list;
  const auto record = open();
  const auto cells = record && run.isValid()
                         ? record->cells(run, std::nullopt)
                         : Result<std::vector<services::CellSummary>>(std::vector<services::CellSummary>());
  if (!cells) {
    return list;
  }
  for (const services::CellSummary& cell : *cells) {
    if (cell.best.isValid()) {
      list.push_back({uriOf(cell.best, "source"), fmt::format("candidate {}", cell.best.value()),
                      fmt::format("Source of the best of {}", describeCell(cell.cell)), "text/plain"});
    }
  }
  return list;
}

Result<mcp::ResourceText> McpArchive::read(const std::string& uri) const {
  const std::optional<Address> address = parseAddress(uri);
  if (!address) {
    return noResource(uri);
  }
  SWAGE_TRY_ASSIGN(const engine::RecordServiceImpl record, open());
  SWAGE_TRY_ASSIGN(const services::CandidateDetail detail, record.candidate(address->candidate));
  const auto text = [](std::string_view type, std::string_view whole) {
    return mcp::ResourceText{std::string(type), limited(whole, kMostOfMcpResource, "the rest is not shown")};
  };
  if (address->part == "source") {
    return text(sourceType(detail.program.language), detail.program.source);
  }
  if (address->part == "assembly" && !detail.assembly.empty()) {
    return text("text/plain", domain::readableListing(detail.assembly).text);
  }
  if (address->part == "plan") {
    SWAGE_TRY_ASSIGN(const std::optional<std::string> plan, planText(detail));
    return plan ? Result<mcp::ResourceText>(text("application/json", *plan)) : noResource(uri);
  }
  if (address->part == "profile") {
    SWAGE_TRY_ASSIGN(const std::optional<domain::Profile> profile, record.profile(address->candidate));
    return profile ? Result<mcp::ResourceText>(text("application/json", domain::dumpJson(domain::toJson(*profile))))
                   : noResource(uri);
  }
  return noResource(uri);
}

Result<McpArchive::Target> McpArchive::target(domain::RunId run) const {
  SWAGE_TRY_ASSIGN(const store::Record stored, store::Record::open(m_project, store::Record::Mode::ReadOnly));
  SWAGE_TRY_ASSIGN(const store::RunRow row, stored.run(run));
  SWAGE_TRY_ASSIGN(const std::vector<store::CandidateRow> first, stored.candidates({.run = run, .limit = 1}));
  if (first.empty()) {
    return Error(ErrorKind::InvalidInput, fmt::format("run {} ended before its first candidate", run.value()),
                 "open another run, or let open_task begin one");
  }
  SWAGE_TRY_ASSIGN(domain::Task task, stored.task(row.taskId));
  return Target{first.front().id, domain::standardLanguage(row.device.kind), std::move(task)};
}

}  // namespace swage::cli
