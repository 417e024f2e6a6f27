// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QNetworkAccessManager>
#include <QObject>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/models/http_provider.h"

namespace swage::models {

// What a look at an endpoint found.
struct EndpointReport {
  std::vector<std::string> models;  // that it offers, at most a hundred
  bool canList = false;             // some endpoints do not say which models they have
  bool hasModel = false;            // the configured one is among them
  ChatOutcome answer{ChatFailure{}};
  double firstSeconds = 0.0;  // until the first piece of the answer

  [[nodiscard]] bool works() const { return answer.reply() != nullptr; }
  [[nodiscard]] double tokensPerSecond() const;
};

// Asks an endpoint of HTTP which models it has, and then one question of a few tokens. Emits finished() once.
class EndpointCheck : public QObject {
  Q_OBJECT

 public:
  EndpointCheck(Endpoint endpoint, std::shared_ptr<const KeyRing> keys, QObject* parent = nullptr);

  void start();
  [[nodiscard]] const EndpointReport& report() const { return m_report; }

 Q_SIGNALS:
  void finished();

 private:
  void list(const Secret& key);
  void handleList(QNetworkReply& reply);
  void ask();

  Endpoint m_endpoint;
  std::shared_ptr<const KeyRing> m_keys;
  QNetworkAccessManager m_network;
  std::unique_ptr<HttpProvider> m_provider;
  std::chrono::steady_clock::time_point m_asked;
  EndpointReport m_report;
};

// The names of models in what an endpoint lists: OpenAI's and Anthropic's {"data": [{"id"}]}, Ollama's {"models":
// [{"name"}]}. No value: it is neither.
[[nodiscard]] std::optional<std::vector<std::string>> modelsIn(std::string_view body);

}  // namespace swage::models
