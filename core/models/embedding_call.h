// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QNetworkAccessManager>
#include <QObject>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/models/endpoint.h"
#include "core/models/key_ring.h"
#include "core/models/wire_format.h"

namespace swage::models {

// Texts as points, by a model that makes them: near ones are about the same.
using TextPoints = std::vector<std::vector<float>>;

// Where an endpoint of OpenAI's format or of Ollama's makes points of texts. InvalidInput: one of another kind makes
// none.
[[nodiscard]] Result<HttpCall> embeddingCall(const Endpoint& endpoint, const std::vector<std::string>& texts);
// One point for each of so many texts, in their order, all of one size. InvalidInput: it is something else.
[[nodiscard]] Result<TextPoints> readPoints(std::string_view body, std::size_t texts);

// Asks an endpoint once for the points of some texts. What is sent has neither keys nor the home folder in it. Emits
// finished() once. One thread only; nothing here waits. Destroying it ends the call without a word.
class EmbeddingCall : public QObject {
  Q_OBJECT

 public:
  EmbeddingCall(Endpoint endpoint, std::shared_ptr<const KeyRing> keys, QObject* parent = nullptr);
  ~EmbeddingCall() override;

  void start(const std::vector<std::string>& texts);

 Q_SIGNALS:
  void finished(const swage::Result<swage::models::TextPoints>& points);

 private:
  void send(const HttpCall& call, const Secret& key, std::size_t texts);
  void finishLater(Result<TextPoints> points);

  Endpoint m_endpoint;
  std::shared_ptr<const KeyRing> m_keys;
  QNetworkAccessManager m_network;
};

}  // namespace swage::models
