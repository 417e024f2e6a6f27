// SPDX-License-Identifier: Apache-2.0
#include "core/models/endpoint_check.h"

#include <algorithm>
#include <utility>

#include "core/domain/json.h"
#include "core/models/clean_text.h"

namespace swage::models {
namespace {

constexpr qint64 kMostOfList = qint64{4} << 20U;
constexpr int kListLimitMs = 20'000;

}  // namespace

double EndpointReport::tokensPerSecond() const {
  const double seconds = answer.seconds - firstSeconds;
  return works() && seconds > 0.0 ? static_cast<double>(answer.usage.output) / seconds : 0.0;
}

std::optional<std::vector<std::string>> modelsIn(std::string_view body) {
  const auto json = domain::parseJson(body);
  if (!json || !json->is_object()) {
    return std::nullopt;
  }
  for (const auto& [list, name] : {std::pair("data", "id"), std::pair("models", "name")}) {
    if (!json->contains(list) || !json->at(list).is_array()) {
      continue;
    }
    constexpr std::size_t kMost = 100;
    std::vector<std::string> names;
    for (const domain::Json& one : json->at(list)) {
      if (one.is_object() && one.contains(name) && one.at(name).is_string() && names.size() < kMost) {
        names.push_back(cleanLine(one.at(name).get<std::string>(), 200));
      }
    }
    return names;
  }
  return std::nullopt;
}

EndpointCheck::EndpointCheck(Endpoint endpoint, std::shared_ptr<const KeyRing> keys, QObject* parent)
    : QObject(parent), m_endpoint(std::move(endpoint)), m_keys(std::move(keys)) {}

void EndpointCheck::start() {
  m_keys->fetch(m_endpoint.key, this, [this](const Result<Secret>& key) {
    if (key) {
      list(*key);
      return;
    }
    m_report.answer.result =
        ChatFailure{.kind = FailureKind::Denied, .message = key.error().message(), .hint = key.error().hint()};
    QMetaObject::invokeMethod(this, &EndpointCheck::finished, Qt::QueuedConnection);
  });
}

void EndpointCheck::list(const Secret& key) {
  QNetworkRequest request = networkRequest(listCall(m_endpoint), m_endpoint.kind, key);
  request.setTransferTimeout(kListLimitMs);
  QNetworkReply* reply = m_network.get(request);
  reply->setReadBufferSize(kMostOfList);
  connect(reply, &QNetworkReply::finished, this, [this, reply] { handleList(*reply); });
}

void EndpointCheck::handleList(QNetworkReply& reply) {
  constexpr int kOk = 200;
  if (reply.attribute(QNetworkRequest::HttpStatusCodeAttribute).toInt() == kOk) {
    const QByteArray body = reply.read(kMostOfList);
    if (auto models = modelsIn({body.constData(), static_cast<std::size_t>(body.size())})) {
      m_report.canList = true;
      m_report.models = std::move(*models);
      const auto& all = m_report.models;
      m_report.hasModel = std::find(all.begin(), all.end(), m_endpoint.model) != all.end() ||
                          std::find(all.begin(), all.end(), m_endpoint.model + ":latest") != all.end();
    }
  }
  reply.deleteLater();
  ask();
}

void EndpointCheck::ask() {
  HttpProvider::Options options;
  options.retry.retries = 0;
  m_provider = std::make_unique<HttpProvider>(m_endpoint, m_keys, std::make_shared<CallBudget>(), options);
  m_asked = std::chrono::steady_clock::now();
  connect(m_provider.get(), &HttpProvider::received, this, [this] {
    if (m_report.firstSeconds <= 0.0) {
      m_report.firstSeconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - m_asked).count();
    }
  });
  connect(m_provider.get(), &HttpProvider::ended, this, [this](std::uint64_t, const ChatOutcome& outcome) {
    m_report.answer = outcome;
    Q_EMIT finished();
  });
  constexpr int kFewTokens = 16;
  static_cast<void>(m_provider->ask(
      {.system = "Answer in one word.", .messages = {{Role::User, "Say: ready"}}, .maxTokens = kFewTokens}));
}

}  // namespace swage::models
