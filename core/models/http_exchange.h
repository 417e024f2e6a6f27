// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QElapsedTimer>
#include <QNetworkAccessManager>
#include <QNetworkReply>
#include <QObject>
#include <QTimer>

#include <memory>
#include <optional>

#include "core/models/endpoint.h"
#include "core/models/key_ring.h"
#include "core/models/wire_format.h"

namespace swage::models {

// Redirections are not followed: a key is for the host that it was given for. TLS is verified.
[[nodiscard]] QNetworkRequest networkRequest(const HttpCall& call, EndpointKind kind, const Secret& key);
// What kept a request from getting an answer.
[[nodiscard]] ChatFailure connectionFailure(const QNetworkReply& reply);
// Its headers, with names in lower case, and the beginning of `body`.
[[nodiscard]] HttpError httpErrorOf(const QNetworkReply& reply, const QByteArray& body);

// One attempt at one streamed call over HTTP. Emits ended() once, never from within the constructor. Destroying it ends
// the call.
class HttpExchange : public QObject {
  Q_OBJECT

 public:
  // `network` outlives this.
  HttpExchange(QNetworkAccessManager& network, const Endpoint& endpoint, const Secret& key, const ChatRequest& request,
               QObject* parent = nullptr);
  ~HttpExchange() override;

  // Of what has come so far.
  [[nodiscard]] TokenUsage usage() const { return m_collector.usage(); }
  [[nodiscard]] bool hasBegun() const { return m_collector.hasBegun(); }
  // After ended(). No value: it failed.
  [[nodiscard]] const std::optional<ChatFailure>& failure() const { return m_failure; }
  [[nodiscard]] ChatReply reply() const { return m_collector.reply(); }

 Q_SIGNALS:
  void received(const std::string& text);
  void ended();

 private:
  void handleData();
  void handleFinished();
  void take(const std::vector<ChatEvent>& events);
  // A status or a type of content that no reply has.
  [[nodiscard]] bool isRefused() const;
  void failWith(ChatFailure failure);
  void end();

  EndpointTimeouts m_timeouts;
  std::unique_ptr<ReplyReader> m_reader;
  ReplyCollector m_collector;
  QTimer m_silence;  // first byte, then idle
  QTimer m_total;
  QByteArray m_refusal;  // the body of an error
  std::optional<ChatFailure> m_failure;
  QNetworkReply* m_reply = nullptr;
  bool m_ended = false;
};

}  // namespace swage::models
