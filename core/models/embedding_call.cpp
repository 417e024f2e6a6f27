// SPDX-License-Identifier: Apache-2.0
#include "core/models/embedding_call.h"

#include <QNetworkReply>
#include <QTimer>

#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "core/base/unix_time.h"
#include "core/domain/json_reader.h"
#include "core/models/clean_text.h"
#include "core/models/http_exchange.h"

namespace swage::models {
namespace {

using domain::JsonReader;

constexpr std::size_t kMostOfText = 8192;
constexpr qint64 kMostOfReply = qint64{64} << 20U;
constexpr std::size_t kMostDimensions = 16384;

std::vector<float> readPoint(const JsonReader& reader) {
  return reader.list([](const JsonReader& one) { return static_cast<float>(one.number()); }, kMostDimensions);
}

}  // namespace

Result<HttpCall> embeddingCall(const Endpoint& endpoint, const std::vector<std::string>& texts) {
  if (endpoint.kind != EndpointKind::OpenAi && endpoint.kind != EndpointKind::Ollama) {
    return Error(ErrorKind::InvalidInput, fmt::format("'{}' does not make points of texts", endpoint.name),
                 "name an endpoint of kind openai or ollama with an embedding model");
  }
  std::string base = endpoint.baseUrl;
  while (base.ends_with('/')) {
    base.pop_back();
  }
  HttpCall call;
  call.url = base + (endpoint.kind == EndpointKind::Ollama ? "/api/embed" : "/embeddings");
  call.headers = {{"content-type", "application/json"}};
  for (const auto& [name, value] : endpoint.headers) {
    call.headers.push_back({name, value});
  }
  domain::Json json{{"model", endpoint.model}, {"input", domain::Json::array()}};
  for (const std::string& text : texts) {
    json["input"].push_back(withoutSecrets(cleanText(text, kMostOfText)));
  }
  call.body = domain::dumpJson(json);
  return call;
}

Result<TextPoints> readPoints(std::string_view body, std::size_t texts) {
  SWAGE_TRY_ASSIGN(const domain::Json json, domain::parseJson(body));
  return domain::readJson(json, "the reply", [texts](const JsonReader& reader) {
    TextPoints points;
    if (reader.has("embeddings")) {  // Ollama's
      points = reader["embeddings"].list(readPoint, texts);
    } else {
      points.resize(texts);
      const auto places = reader["data"].list(
          [&points, texts](const JsonReader& one) {
            const int place = one["index"].smallInteger(0, static_cast<int>(texts) - 1);
            points[static_cast<std::size_t>(place)] = readPoint(one["embedding"]);
            return place;
          },
          texts);
    }
    for (const std::vector<float>& point : points) {
      if (!reader.hasFailed() && (point.empty() || point.size() != points.front().size())) {
        reader.fail("must have a point of the same size for each text");
      }
    }
    if (!reader.hasFailed() && points.size() != texts) {
      reader.fail("must have a point for each text");
    }
    return points;
  });
}

EmbeddingCall::EmbeddingCall(Endpoint endpoint, std::shared_ptr<const KeyRing> keys, QObject* parent)
    : QObject(parent), m_endpoint(std::move(endpoint)), m_keys(std::move(keys)) {}

// A reply must not outlive what it came over.
EmbeddingCall::~EmbeddingCall() {
  for (QNetworkReply* reply : findChildren<QNetworkReply*>()) {
    reply->disconnect(this);
    delete reply;
  }
}

void EmbeddingCall::start(const std::vector<std::string>& texts) {
  const Result<HttpCall> call = embeddingCall(m_endpoint, texts);
  if (!call) {
    finishLater(call.error());
    return;
  }
  m_keys->fetch(m_endpoint.key, this, [this, call = *call, count = texts.size()](const Result<Secret>& key) {
    if (key) {
      send(call, *key, count);
    } else {
      finishLater(key.error());
    }
  });
}

void EmbeddingCall::send(const HttpCall& call, const Secret& key, std::size_t texts) {
  QNetworkRequest request = networkRequest(call, m_endpoint.kind, key);
  request.setTransferTimeout(static_cast<int>(m_endpoint.timeouts.firstByte.count()));
  QNetworkReply* reply = m_network.post(request, QByteArray::fromStdString(call.body));
  reply->setParent(this);
  connect(reply, &QNetworkReply::finished, this, [this, reply, texts] {
    constexpr int kOk = 200;
    const QByteArray body = reply->read(kMostOfReply);
    const int status = reply->attribute(QNetworkRequest::HttpStatusCodeAttribute).toInt();
    reply->deleteLater();
    if (status == kOk) {
      finishLater(readPoints({body.constData(), static_cast<std::size_t>(body.size())}, texts));
      return;
    }
    const ChatFailure failure =
        status == 0 ? connectionFailure(*reply) : failureOf(httpErrorOf(*reply, body), unixTimeMs());
    finishLater(Error(
        ErrorKind::Environment,
        fmt::format("the embedding model '{}' failed: {}: {}", m_endpoint.name, name(failure.kind), failure.message),
        failure.hint));
  });
}

void EmbeddingCall::finishLater(Result<TextPoints> points) {
  QTimer::singleShot(0, this, [this, points = std::move(points)] { Q_EMIT finished(points); });
}

}  // namespace swage::models
