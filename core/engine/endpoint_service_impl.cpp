// SPDX-License-Identifier: Apache-2.0
#include "core/engine/endpoint_service_impl.h"

#include <QTimer>

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "core/engine/model_endpoints.h"

namespace swage::engine {
namespace {

using models::Endpoint;
using models::KeySource;
using services::EndpointSettings;
using Key = EndpointSettings::Key;

constexpr std::array<std::pair<Key, KeySource::From>, 5> kKeys = {{{Key::None, KeySource::From::Nowhere},
                                                                   {Key::Environment, KeySource::From::Environment},
                                                                   {Key::Command, KeySource::From::Command},
                                                                   {Key::File, KeySource::From::File},
                                                                   {Key::Keychain, KeySource::From::Keychain}}};

EndpointSettings settingsOf(const Endpoint& endpoint) {
  EndpointSettings settings;
  settings.name = endpoint.name;
  settings.kind = models::name(endpoint.kind);
  settings.baseUrl = endpoint.baseUrl;
  settings.model = endpoint.model;
  for (const auto& [key, from] : kKeys) {
    settings.key = from == endpoint.key.from ? key : settings.key;
  }
  settings.keyWhere = endpoint.key.where;
  if (endpoint.price) {
    settings.inputPrice = endpoint.price->input;
    settings.outputPrice = endpoint.price->output;
  }
  settings.maxOutput = endpoint.maxOutput;
  settings.concurrency = endpoint.concurrency;
  settings.allowPlain = endpoint.allowPlain;
  return settings;
}

// What is not shown stays as it is in `endpoint`.
Result<Endpoint> applied(const EndpointSettings& settings, Endpoint endpoint) {
  const auto kind = models::parseEndpointKind(settings.kind);
  if (!kind) {
    return Error(ErrorKind::Config, fmt::format("there is no kind of model '{}'", settings.kind));
  }
  endpoint.name = settings.name;
  endpoint.kind = *kind;
  endpoint.baseUrl = settings.baseUrl;
  endpoint.model = settings.model;
  for (const auto& [key, from] : kKeys) {
    endpoint.key.from = key == settings.key ? from : endpoint.key.from;
  }
  endpoint.key.where = settings.key == Key::None ? std::string() : settings.keyWhere;
  if (settings.inputPrice && settings.outputPrice) {
    const double cached = endpoint.price ? endpoint.price->cachedInput : *settings.inputPrice;
    endpoint.price =
        models::TokenPrice{*settings.inputPrice, std::min(cached, *settings.inputPrice), *settings.outputPrice};
  } else {
    endpoint.price.reset();
  }
  endpoint.maxOutput = settings.maxOutput;
  endpoint.concurrency = settings.concurrency;
  endpoint.allowPlain = settings.allowPlain;
  return endpoint;
}

Result<> checkKey(const EndpointSettings& settings) {
  if (settings.key != Key::None && settings.keyWhere.empty()) {
    return Error(ErrorKind::Config, "say where the key is");
  }
  if (settings.inputPrice.has_value() != settings.outputPrice.has_value()) {
    return Error(ErrorKind::Config, "a price has two parts: of tokens sent, and of tokens that come back");
  }
  return {};
}

}  // namespace

EndpointServiceImpl::EndpointServiceImpl(std::filesystem::path file, std::shared_ptr<const models::KeyRing> keys,
                                         QObject* parent)
    : services::EndpointService(parent), m_file(std::move(file)), m_keys(std::move(keys)) {}

Result<std::vector<EndpointSettings>> EndpointServiceImpl::load() const {
  SWAGE_TRY_ASSIGN(const std::vector<Endpoint> endpoints, readEndpoints(m_file));
  std::vector<EndpointSettings> all;
  std::transform(endpoints.begin(), endpoints.end(), std::back_inserter(all), settingsOf);
  return all;
}

Result<Endpoint> EndpointServiceImpl::known(const std::string& name) const {
  SWAGE_TRY_ASSIGN(const std::vector<Endpoint> endpoints, readEndpoints(m_file));
  const auto found =
      std::find_if(endpoints.begin(), endpoints.end(), [&name](const Endpoint& one) { return one.name == name; });
  return found == endpoints.end() ? Endpoint() : *found;
}

Result<> EndpointServiceImpl::check(const EndpointSettings& endpoint) const {
  SWAGE_TRY(checkKey(endpoint));
  SWAGE_TRY_ASSIGN(const Endpoint one, applied(endpoint, Endpoint()));
  return models::checkEndpoint(one);
}

Result<> EndpointServiceImpl::save(const std::string& before, const EndpointSettings& endpoint) {
  SWAGE_TRY(checkKey(endpoint));
  SWAGE_TRY_ASSIGN(const Endpoint old, known(before));
  SWAGE_TRY_ASSIGN(const Endpoint wanted, applied(endpoint, before.empty() ? Endpoint() : old));
  return before.empty() ? addEndpoint(m_file, wanted) : replaceEndpoint(m_file, before, wanted);
}

Result<> EndpointServiceImpl::remove(const std::string& name) {
  return removeEndpoint(m_file, name);
}

void EndpointServiceImpl::test(const EndpointSettings& endpoint) {
  const Result<Endpoint> old = known(endpoint.name);
  const Result<> possible = check(endpoint);
  const Result<Endpoint> wanted = applied(endpoint, old ? *old : Endpoint());
  if (!possible || !wanted || !models::isHttp(wanted->kind)) {
    const Error error = !possible ? possible.error()
                        : wanted  ? Error(ErrorKind::InvalidInput, "it is not reached over HTTP")
                                  : wanted.error();
    QTimer::singleShot(0, this, [this, error, name = endpoint.name] {
      services::EndpointFinding finding;
      finding.name = name;
      finding.error = error.message();
      finding.hint = error.hint();
      Q_EMIT tested(finding);
    });
    return;
  }
  m_check = std::make_unique<models::EndpointCheck>(*wanted, m_keys);
  connect(m_check.get(), &models::EndpointCheck::finished, this, [this, name = endpoint.name] { tell(name); });
  m_check->start();
}

void EndpointServiceImpl::tell(const std::string& name) {
  const models::EndpointReport& report = m_check->report();
  services::EndpointFinding finding;
  finding.name = name;
  finding.works = report.works();
  finding.canList = report.canList;
  finding.hasModel = report.hasModel;
  finding.models = report.models;
  if (report.works()) {
    finding.model = report.answer.reply()->model;
    finding.firstSeconds = report.firstSeconds;
    finding.seconds = report.answer.seconds;
    finding.tokensPerSecond = report.tokensPerSecond();
  } else {
    const models::ChatFailure& failure = *report.answer.failure();
    finding.error = fmt::format("{}: {}", models::name(failure.kind), failure.message);
    finding.hint = failure.hint;
  }
  Q_EMIT tested(finding);
}

}  // namespace swage::engine
