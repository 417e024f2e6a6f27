// SPDX-License-Identifier: Apache-2.0
#include "app/cli/mcp_host.h"

#include <QTimer>

#include <algorithm>
#include <initializer_list>
#include <utility>

#include <fmt/format.h>

#include "app/cli/mcp_text.h"
#include "app/cli/patterns_command.h"
#include "core/models/answer.h"
#include "core/models/prompt.h"

namespace swage::cli {
namespace {

using domain::Json;
using domain::JsonReader;

constexpr std::size_t kMostWaiting = 16;

void allowOnly(const JsonReader& reader, std::initializer_list<std::string_view> names) {
  reader.eachMember([&](const std::string& name, const JsonReader& member) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      member.fail("is not an argument of this tool");
    }
  });
}

domain::CandidateId readId(const JsonReader& reader, std::string_view name) {
  return domain::CandidateId(reader[name].integer(1));
}

domain::RunId readRun(const JsonReader& reader, domain::RunId otherwise) {
  return reader.has("run") ? domain::RunId(reader["run"].integer(1)) : otherwise;
}

Result<domain::CandidateId> onlyCandidate(const Json& arguments) {
  return domain::readJson(arguments, "arguments", [](const JsonReader& reader) {
    allowOnly(reader, {"candidate"});
    return readId(reader, "candidate");
  });
}

mcp::ToolAnswer errorAnswer(const Error& error) {
  return {error.hint().empty() ? error.message() : error.message() + "; " + error.hint(), true};
}

mcp::ToolAnswer toolAnswer(const Result<Json>& json) {
  if (!json) {
    return errorAnswer(json.error());
  }
  std::string text = domain::dumpJson(*json);
  if (text.size() > kMostOfMcpAnswer) {
    return {fmt::format("the answer would have {} bytes, more than {}; ask for less", text.size(), kMostOfMcpAnswer),
            true};
  }
  return {std::move(text), false};
}

}  // namespace

McpHost::McpHost(Options options, QObject* parent)
    : QObject(parent),
      m_options(std::move(options)),
      m_archive(m_options.locations, m_options.spec.project),
      m_submitter(submitterName({})) {}

void McpHost::greet(const std::string& clientName) {
  m_submitter = submitterName(clientName);
}

void McpHost::call(mcp::ToolCall call) {
  const Result<std::optional<Json>> begun = begin(call);
  if (!begun) {
    call.answer(errorAnswer(begun.error()));
  } else if (*begun) {
    call.answer(toolAnswer(**begun));
  }
}

// No value: the answer follows.
Result<std::optional<Json>> McpHost::begin(const mcp::ToolCall& call) {
  if (call.tool == "open_task") {
    return openTask(call);
  }
  if (call.tool == "submit_kernel") {
    SWAGE_TRY(submit(call));
    return std::optional<Json>();
  }
  SWAGE_TRY_ASSIGN(Json json, answer(call));
  return std::optional(std::move(json));
}

Result<Json> McpHost::answer(const mcp::ToolCall& call) {
  if (call.tool == "read_archive") {
    return readArchive(call.arguments);
  }
  if (call.tool == "read_candidate") {
    SWAGE_TRY_ASSIGN(const domain::CandidateId id, onlyCandidate(call.arguments));
    return m_archive.candidate(id);
  }
  if (call.tool == "judge_advice") {
    SWAGE_TRY_ASSIGN(const domain::CandidateId id, onlyCandidate(call.arguments));
    return m_archive.advice(id);
  }
  if (call.tool == "compare_candidates") {
    using Pair = std::pair<domain::CandidateId, domain::CandidateId>;
    SWAGE_TRY_ASSIGN(const Pair pair, domain::readJson(call.arguments, "arguments", [](const JsonReader& reader) {
                       allowOnly(reader, {"first", "second"});
                       return Pair(readId(reader, "first"), readId(reader, "second"));
                     }));
    return m_archive.comparison(pair.first, pair.second);
  }
  if (call.tool == "search_patterns") {
    return searchPatterns(call.arguments);
  }
  if (call.tool == "export_candidate") {
    return exportCandidate(call.arguments);
  }
  return Error(ErrorKind::InvalidInput, fmt::format("there is no tool '{}'", call.tool.substr(0, 100)));
}

Result<std::optional<Json>> McpHost::openTask(const mcp::ToolCall& call) {
  struct Wanted {
    domain::RunId run;
    bool isNew = false;
  };
  SWAGE_TRY_ASSIGN(const Wanted wanted, domain::readJson(call.arguments, "arguments", [](const JsonReader& reader) {
                     allowOnly(reader, {"run", "new_run"});
                     return Wanted{readRun(reader, {}), reader.has("new_run") && reader["new_run"].boolean()};
                   }));
  const domain::RunId run = wanted.run.isValid() ? wanted.run : m_archive.newestRun();
  if (run.isValid() && !wanted.isNew) {
    SWAGE_TRY_ASSIGN(Json json, m_archive.task(run));
    m_run = run;
    return std::optional(std::move(json));
  }
  if (m_options.access == McpAccess::ReadOnly) {
    return Error(ErrorKind::InvalidInput, "a run cannot be begun: this server is read-only",
                 "a person can start it with --allow-submissions");
  }
  if (m_options.spec.task.empty()) {
    return Error(ErrorKind::InvalidInput, "a run cannot be begun: this server was started without a task",
                 "a person can start it with one: swage mcp TASK --allow-submissions");
  }
  enqueue(call, [this] {
    auto job = std::make_unique<McpRunJob>(m_options.parts, m_options.spec);
    connect(job.get(), &McpRunJob::opened, this, [this](domain::RunId opened) {
      m_run = opened;
      finish(m_archive.task(opened));
    });
    return std::unique_ptr<McpJob>(std::move(job));
  });
  return std::optional<Json>();
}

Result<Json> McpHost::readArchive(const Json& arguments) const {
  domain::RunId run;
  SWAGE_TRY_ASSIGN(const McpArchive::Page page, domain::readJson(arguments, "arguments", [&](const JsonReader& reader) {
                     allowOnly(reader, {"run", "island", "filter", "limit"});
                     constexpr std::size_t kMostOfFilter = 1000;
                     constexpr int kMostRows = 100;
                     McpArchive::Page read;
                     run = readRun(reader, currentRun());
                     if (reader.has("island")) {
                       read.island = reader["island"].smallInteger(0);
                     }
                     if (reader.has("filter")) {
                       read.filter = reader["filter"].text(kMostOfFilter);
                     }
                     if (reader.has("limit")) {
                       read.limit = reader["limit"].smallInteger(1, kMostRows);
                     }
                     return read;
                   }));
  return m_archive.archive(run, page);
}

Result<Json> McpHost::searchPatterns(const Json& arguments) {
  SWAGE_TRY_ASSIGN(
      const retrieval::Question question, domain::readJson(arguments, "arguments", [](const JsonReader& reader) {
        allowOnly(reader, {"query", "operator", "type", "architecture", "bottleneck", "limit"});
        constexpr std::size_t kMostOfText = 1000;
        constexpr int kMostFound = 20;
        constexpr int kFound = 5;
        const auto text = [&reader](std::string_view name) {
          return reader.has(name) ? reader[name].text(kMostOfText) : std::string();
        };
        return retrieval::Question{.text = reader["query"].text(kMostOfText),
                                   .operatorName = text("operator"),
                                   .type = text("type"),
                                   .architecture = text("architecture"),
                                   .bottleneck = text("bottleneck"),
                                   .limit = reader.has("limit") ? reader["limit"].smallInteger(1, kMostFound) : kFound};
      }));
  if (!m_patterns) {
    SWAGE_TRY_ASSIGN(m_patterns, engine::PatternSearch::open(
                                     engine::PatternPlaces::standard(m_options.locations, m_archive.project())));
  }
  SWAGE_TRY_ASSIGN(const std::vector<retrieval::Found> found, m_patterns->find(question));
  constexpr std::size_t kMostOfBody = 3000;
  Json json{{"found", Json::array()}};
  for (const retrieval::Found& one : found) {
    json["found"].push_back(toJson(one, kMostOfBody));
  }
  return json;
}

Result<Json> McpHost::exportCandidate(const Json& arguments) const {
  auto format = services::ExportFormat::ModelNew;
  SWAGE_TRY_ASSIGN(const domain::CandidateId id,
                   domain::readJson(arguments, "arguments", [&](const JsonReader& reader) {
                     allowOnly(reader, {"candidate", "format"});
                     if (reader.has("format")) {
                       format = reader["format"].word(services::parseExportFormat);
                     }
                     return readId(reader, "candidate");
                   }));
  const bool writes = m_options.access == McpAccess::Submissions;
  return m_archive.exported(id, format, writes ? m_archive.project() / "exports" : std::filesystem::path());
}

// Read as strictly as what a model answers, by the same reader.
Result<services::EditSpec> McpHost::submission(const Json& arguments) const {
  struct Sent {
    std::string source;
    Json plan;
    domain::CandidateId parent;
  };
  SWAGE_TRY_ASSIGN(const Sent sent, domain::readJson(arguments, "arguments", [](const JsonReader& reader) {
                     allowOnly(reader, {"source", "plan", "parent", "profile"});
                     Sent read{reader["source"].text(kMostOfMcpSource), reader["plan"].json(), {}};
                     if (reader.has("parent")) {
                       read.parent = readId(reader, "parent");
                     }
                     return read;
                   }));
  SWAGE_TRY_ASSIGN(McpArchive::Target target, m_archive.target(currentRun()));
  models::ChatReply reply;
  reply.text = models::fenced(models::fenceTag(target.language), sent.source) + "\n" +
               models::fenced("json", domain::dumpJson(sent.plan)) + "\n";
  SWAGE_TRY_ASSIGN(models::Answer answer, models::readAnswer(reply, target.language, target.task.graph));
  const bool isVariant = sent.parent.isValid();
  return services::EditSpec{.project = m_archive.project(),
                            .parent = isVariant ? sent.parent : target.anchor,
                            .change = services::ProgramEdit{.program = std::move(answer.program),
                                                            .madeBy = m_submitter,
                                                            .isVariant = isVariant,
                                                            .note = std::move(answer.intent)}};
}

Result<> McpHost::submit(const mcp::ToolCall& call) {
  if (m_options.access == McpAccess::ReadOnly) {
    return Error(ErrorKind::InvalidInput, "kernels cannot be submitted: this server is read-only",
                 "a person can start it with --allow-submissions");
  }
  if (!currentRun().isValid()) {
    return Error(ErrorKind::InvalidInput, "no task is open", "call open_task first");
  }
  SWAGE_TRY_ASSIGN(services::EditSpec spec, submission(call.arguments));
  SWAGE_TRY_ASSIGN(const bool profiles, domain::readJson(call.arguments, "arguments", [](const JsonReader& reader) {
                     return !reader.has("profile") || reader["profile"].boolean();
                   }));
  enqueue(call, [this, profiles, spec = std::move(spec)] {
    auto job = std::make_unique<McpSubmission>(m_options.parts, m_options.locations.patterns, spec, profiles);
    connect(
        job.get(), &McpSubmission::evaluated, this,
        [this](const services::EditOutcome& outcome, const std::string& note) { finish(submitted(outcome, note)); });
    return std::unique_ptr<McpJob>(std::move(job));
  });
  return {};
}

Result<Json> McpHost::submitted(const services::EditOutcome& outcome, const std::string& note) const {
  SWAGE_TRY_ASSIGN(Json json, m_archive.candidate(outcome.detail.row.id));
  json.erase("source");  // whoever asks has it
  json.erase("plan");
  json["is_elite"] = outcome.isElite;
  json["is_winner"] = outcome.isWinner;
  if (!note.empty()) {
    json["no_counters"] = note;
  }
  return json;
}

void McpHost::enqueue(const mcp::ToolCall& call, std::function<std::unique_ptr<McpJob>()> make) {
  if (m_pending.size() >= kMostWaiting) {
    call.answer({fmt::format("{} calls are waiting already; wait for their answers", m_pending.size()), true});
    return;
  }
  m_pending.push_back({call, std::move(make)});
  if (m_pending.size() == 1) {
    startNext();
  } else {
    call.progress(m_pending.back().steps += 1.0, "waiting for an earlier call");
  }
}

void McpHost::startNext() {
  m_job = m_pending.front().make();
  watch(*m_job);
  m_job->start();
}

void McpHost::watch(McpJob& job) {
  connect(&job, &McpJob::failed, this, [this](const Error& error) { finish(error); });
  connect(&job, &McpJob::progressed, this, [this](const std::string& stage) {
    if (!m_pending.empty()) {
      Pending& first = m_pending.front();
      first.call.progress(first.steps += 1.0, stage);
    }
  });
}

// The job has ended by a signal of its own, so it is deleted later.
void McpHost::finish(const Result<Json>& answer) {
  const Pending done = std::move(m_pending.front());
  m_pending.pop_front();
  m_job.release()->deleteLater();
  done.call.answer(toolAnswer(answer));
  if (m_pending.empty()) {
    Q_EMIT becameIdle();
  } else {
    startNext();
  }
}

void McpHost::cancel(std::int64_t number) {
  const auto found = std::find_if(m_pending.begin(), m_pending.end(),
                                  [number](const Pending& one) { return one.call.number == number; });
  if (found == m_pending.begin() && m_job) {
    m_job->cancel();
  } else if (found != m_pending.end()) {
    m_pending.erase(found);
  }
}

void McpHost::stop() {
  if (m_pending.empty()) {
    QTimer::singleShot(0, this, &McpHost::becameIdle);
    return;
  }
  m_pending.erase(m_pending.begin() + 1, m_pending.end());
  m_job->cancel();
}

}  // namespace swage::cli
