// SPDX-License-Identifier: Apache-2.0
#include "app/cli/models_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/cli/text.h"
#include "core/base/files.h"
#include "core/engine/model_endpoints.h"
#include "core/engine/model_patterns.h"
#include "core/engine/relative_kernels.h"
#include "core/engine/settings_file.h"
#include "core/run/offer_event.h"

namespace swage::cli {
namespace {

using Action = ModelsArguments::Action;
using models::Endpoint;
using models::KeySource;

std::string priceText(const std::optional<models::TokenPrice>& price) {
  return price ? fmt::format("${:g} / ${:g}", price->input, price->output) : "unknown";
}

}  // namespace

std::string keyText(const KeySource& key) {
  switch (key.from) {
    case KeySource::From::Command: return "command";
    case KeySource::From::Environment: return "$" + key.where;
    case KeySource::From::Keychain: return "keychain: " + key.where;
    case KeySource::From::File: return key.where;
    case KeySource::From::Nowhere: break;
  }
  return "none";
}

domain::Json toJson(const Endpoint& endpoint) {
  domain::Json json{{"name", endpoint.name},
                    {"kind", models::name(endpoint.kind)},
                    {"base_url", endpoint.baseUrl},
                    {"model", endpoint.model},
                    {"key", keyText(endpoint.key)},
                    {"concurrency", endpoint.concurrency},
                    {"max_output", endpoint.maxOutput},
                    {"price", nullptr}};
  if (endpoint.price) {
    json["price"] = {{"input", endpoint.price->input},
                     {"cached_input", endpoint.price->cachedInput},
                     {"output", endpoint.price->output}};
  }
  return json;
}

domain::Json toJson(const Endpoint& endpoint, const models::EndpointReport& report) {
  domain::Json json{{"name", endpoint.name},
                    {"works", report.works()},
                    {"models", report.canList ? domain::Json(report.models) : domain::Json()},
                    {"has_model", report.canList ? domain::Json(report.hasModel) : domain::Json()},
                    {"error", nullptr}};
  if (report.works()) {
    json["model"] = report.answer.reply()->model;
    json["first_s"] = report.firstSeconds;
    json["seconds"] = report.answer.seconds;
    json["tokens_per_second"] = report.tokensPerSecond();
  } else {
    json["error"] = {{"kind", models::name(report.answer.failure()->kind)},
                     {"message", report.answer.failure()->message},
                     {"hint", report.answer.failure()->hint}};
  }
  return json;
}

std::string endpointTable(const std::vector<Endpoint>& endpoints) {
  std::vector<std::vector<std::string>> rows{{"name", "kind", "model", "address", "key", "price in / out"}};
  for (const Endpoint& endpoint : endpoints) {
    rows.push_back({endpoint.name, std::string(models::name(endpoint.kind)), endpoint.model, endpoint.baseUrl,
                    keyText(endpoint.key), priceText(endpoint.price)});
  }
  return formatTable(rows);
}

std::string reportText(const Endpoint& endpoint, const models::EndpointReport& report) {
  std::string text;
  if (report.canList) {
    text += fmt::format("{} offers {} models{}\n", endpoint.name, report.models.size(),
                        report.hasModel ? "" : fmt::format(", and '{}' is not among them", endpoint.model));
  }
  if (report.works()) {
    return text + fmt::format("{} answers: first words after {:.2f} s, {:.0f} tokens a second, {:.2f} s in all\n",
                              endpoint.name, report.firstSeconds, report.tokensPerSecond(), report.answer.seconds);
  }
  return text;
}

void ModelsCommand::start() {
  if (const Result<> done = act(); !done) {
    fail(done.error());
  } else if (m_arguments.action != Action::Test) {
    Q_EMIT Command::done(wire::ExitCode::Ok);
  }
}

Result<> ModelsCommand::act() {
  switch (m_arguments.action) {
    case Action::List: return list();
    case Action::Add:
    case Action::Remove: return change();
    case Action::Test: return beginTest();
    case Action::Conversations: break;
  }
  return writeConversations();
}

Result<> ModelsCommand::list() const {
  SWAGE_TRY_ASSIGN(const std::vector<Endpoint> endpoints, engine::readEndpoints(engine::configFile()));
  if (form() == OutputForm::Text) {
    print(endpoints.empty() ? "no models; `swage models add` adds one\n" : endpointTable(endpoints));
    return {};
  }
  domain::Json all = domain::Json::array();
  for (const Endpoint& endpoint : endpoints) {
    if (form() == OutputForm::JsonLines) {
      printJson(toJson(endpoint));
    }
    all.push_back(toJson(endpoint));
  }
  if (form() == OutputForm::Json) {
    printJson({{"models", std::move(all)}});
  }
  return {};
}

Result<> ModelsCommand::change() const {
  const bool adds = m_arguments.action == Action::Add;
  SWAGE_TRY(adds ? engine::addEndpoint(engine::configFile(), m_arguments.endpoint)
                 : engine::removeEndpoint(engine::configFile(), m_arguments.endpoint.name));
  if (form() != OutputForm::Text) {
    printJson({{adds ? "added" : "removed", m_arguments.endpoint.name}, {"file", engine::configFile().string()}});
  }
  return {};
}

Result<> ModelsCommand::beginTest() {
  SWAGE_TRY_ASSIGN(const std::vector<Endpoint> all, engine::readEndpoints(engine::configFile()));
  SWAGE_TRY_ASSIGN(const std::vector<Endpoint> chosen, engine::chooseEndpoints(all, {m_arguments.endpoint.name}));
  m_arguments.endpoint = chosen.front();
  if (!models::isHttp(m_arguments.endpoint.kind)) {
    return Error(ErrorKind::InvalidInput, fmt::format("'{}' is not reached over HTTP", m_arguments.endpoint.name));
  }
  m_check = std::make_unique<models::EndpointCheck>(m_arguments.endpoint, std::make_shared<models::KeyRing>(chosen));
  connect(m_check.get(), &models::EndpointCheck::finished, this, &ModelsCommand::handleTested);
  m_check->start();
  return {};
}

void ModelsCommand::handleTested() {
  const models::EndpointReport& report = m_check->report();
  if (form() != OutputForm::Text) {
    printJson(toJson(m_arguments.endpoint, report));
  } else {
    print(reportText(m_arguments.endpoint, report));
  }
  if (report.works()) {
    Q_EMIT Command::done(wire::ExitCode::Ok);
    return;
  }
  const models::ChatFailure& failure = *report.answer.failure();
  const Error error(ErrorKind::ModelUnavailable,
                    fmt::format("'{}' does not answer: {}: {}", m_arguments.endpoint.name, models::name(failure.kind),
                                failure.message),
                    failure.hint);
  if (form() == OutputForm::Text) {
    fail(error);
  } else {
    Q_EMIT Command::done(wire::exitCodeFor(error.kind()));
  }
}

Result<> ModelsCommand::writeConversations() const {
  SWAGE_TRY_ASSIGN(const std::filesystem::path project, existingProject());
  SWAGE_TRY_ASSIGN(const store::Record record, store::Record::open(project, store::Record::Mode::ReadOnly));
  SWAGE_TRY_ASSIGN(const std::vector<std::string> texts,
                   run::recordedConversations(record, domain::RunId(m_arguments.run.number)));
  std::string lines;
  for (const std::string& text : texts) {
    lines += text + "\n";
  }
  if (m_arguments.output.empty() || m_arguments.output == "-") {
    print(lines);
    return {};
  }
  return writeFileAtomically(m_arguments.output, lines);
}

Result<std::vector<run::ProposerFactory>> proposersFor(const ModelChoice& choice, const process::Locations& locations) {
  const auto known = engine::readEndpoints(engine::configFile());
  const std::vector<Endpoint> all = known ? *known : std::vector<Endpoint>();
  run::ModelUse use;
  use.keys = std::make_shared<models::KeyRing>(all);  // also those that are not used: no child needs any
  if (choice.names.empty()) {
    return std::vector<run::ProposerFactory>();
  }
  if (!known) {
    return known.error();
  }
  SWAGE_TRY_ASSIGN(use.endpoints, engine::chooseEndpoints(all, choice.names));
  use.limits.usd = choice.usd > 0.0 ? std::optional(choice.usd) : std::nullopt;
  use.limits.tokens = choice.tokens > 0 ? std::optional(choice.tokens) : std::nullopt;
  use.patternsFor = engine::patternsFrom(engine::PatternPlaces::standard(locations));
  use.relativeFor = engine::relativesMeanwhile(process::knownProjects);
  return run::modelProposers(use);
}

}  // namespace swage::cli
