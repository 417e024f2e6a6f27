// SPDX-License-Identifier: Apache-2.0
#include "app/cli/patterns_command.h"

#include <algorithm>

#include <fmt/format.h>

#include "app/cli/mcp_text.h"
#include "app/cli/text.h"
#include "core/engine/model_endpoints.h"
#include "core/engine/pattern_ranking.h"
#include "core/engine/pattern_search.h"
#include "core/engine/settings_file.h"

namespace swage::cli {
namespace {

constexpr std::size_t kMostOfSummary = 160;  // bytes, in a table

}  // namespace

void PatternsCommand::start() {
  if (const Result<> begun = begin(); !begun) {
    fail(begun.error());
  } else if (!m_model) {
    show();
  }
}

Result<> PatternsCommand::begin() {
  const Result<std::filesystem::path> project = existingProject();
  SWAGE_TRY_ASSIGN(const std::optional<models::Endpoint> model, chooseModel());
  SWAGE_TRY_ASSIGN(const engine::PatternSearch search,
                   engine::PatternSearch::open(engine::PatternPlaces::standard(
                       context().locations, project ? *project : std::filesystem::path())));
  retrieval::Question question = m_arguments.question;
  if (model) {
    question.limit = std::max(question.limit, engine::kRankedByModel);
  }
  SWAGE_TRY_ASSIGN(m_found, search.find(question));
  m_indexed = search.size();
  return !model || m_found.empty() ? Result<>() : askModel(*model);
}

// One that the settings name and that is not there keeps nobody from finding anything.
Result<std::optional<models::Endpoint>> PatternsCommand::chooseModel() const {
  if (!m_arguments.model.empty()) {
    SWAGE_TRY_ASSIGN(const std::vector<models::Endpoint> all, engine::readEndpoints(engine::configFile()));
    SWAGE_TRY_ASSIGN(const std::vector<models::Endpoint> chosen, engine::chooseEndpoints(all, {m_arguments.model}));
    return std::optional(chosen.front());
  }
  if (m_arguments.noModel) {
    return std::optional<models::Endpoint>();
  }
  Result<std::optional<models::Endpoint>> chosen = engine::chosenEmbeddings(engine::configFile());
  if (!chosen) {
    engine::tellUnranked(chosen.error());
    return std::optional<models::Endpoint>();
  }
  return chosen;
}

Result<> PatternsCommand::askModel(const models::Endpoint& model) {
  SWAGE_TRY_ASSIGN(const std::vector<models::Endpoint> all, engine::readEndpoints(engine::configFile()));
  m_model = std::make_unique<models::EmbeddingCall>(model, std::make_shared<models::KeyRing>(all));
  connect(m_model.get(), &models::EmbeddingCall::finished, this, &PatternsCommand::handlePoints);
  m_model->start(engine::textsToRank(m_arguments.question.text, m_found));
  return {};
}

void PatternsCommand::handlePoints(const Result<models::TextPoints>& points) {
  if (points) {
    engine::rankByModel(m_found, *points);
  } else {
    engine::tellUnranked(points.error());
  }
  m_found.resize(std::min(m_found.size(), static_cast<std::size_t>(m_arguments.question.limit)));
  show();
}

void PatternsCommand::show() {
  domain::Json json{{"question", m_arguments.question.text}, {"indexed", m_indexed}, {"found", domain::Json::array()}};
  for (const retrieval::Found& one : m_found) {
    domain::Json item = toJson(one, kMostOfMcpText);
    if (form() == OutputForm::JsonLines) {
      printJson(item);
    }
    json["found"].push_back(std::move(item));
  }
  if (form() == OutputForm::Json) {
    printJson(json);
  } else if (form() == OutputForm::Text) {
    print(m_found.empty() ? "no results\n" : foundTable(m_found));
  }
  Q_EMIT done(wire::ExitCode::Ok);
}

domain::Json toJson(const retrieval::Found& found, std::size_t mostOfBody) {
  const domain::PatternEntry& entry = found.entry;
  domain::Json json{{"key", entry.key},
                    {"origin", domain::name(entry.origin)},
                    {"title", entry.title},
                    {"summary", entry.summary},
                    {"place", entry.place},
                    {"operators", entry.operators},
                    {"types", entry.types},
                    {"architectures", entry.architectures},
                    {"bottlenecks", entry.bottlenecks},
                    {"score", found.score},
                    {"rank_by_words", found.rankByWords > 0 ? domain::Json(found.rankByWords) : domain::Json()},
                    {"rank_by_vector", found.rankByVector > 0 ? domain::Json(found.rankByVector) : domain::Json()},
                    {"rank_by_model", found.rankByModel > 0 ? domain::Json(found.rankByModel) : domain::Json()}};
  if (mostOfBody > 0) {
    json["body"] = limited(entry.body, mostOfBody, "the rest is at its place");
  }
  return json;
}

std::string foundTable(const std::vector<retrieval::Found>& found) {
  std::vector<std::vector<std::string>> rows{{"from", "what", "in short", "where"}};
  for (const retrieval::Found& one : found) {
    std::string summary = one.entry.summary;
    if (summary.size() > kMostOfSummary) {
      summary = summary.substr(0, summary.rfind(' ', kMostOfSummary)) + " …";
    }
    rows.push_back({std::string(domain::name(one.entry.origin)), one.entry.title, summary, one.entry.place});
  }
  return formatTable(rows);
}

}  // namespace swage::cli
