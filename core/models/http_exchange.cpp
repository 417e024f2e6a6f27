// SPDX-License-Identifier: Apache-2.0
#include "core/models/http_exchange.h"

#include <QDateTime>
#include <QSslError>
#include <QUrl>

#include <utility>

#include <fmt/format.h>

#include "core/models/clean_text.h"

namespace swage::models {
namespace {

constexpr qint64 kReadAtOnce = qint64{256} << 10U;
constexpr qsizetype kMostOfRefusal = qsizetype{64} << 10U;

QByteArray bytesOf(const std::string& text) {
  return {text.data(), static_cast<qsizetype>(text.size())};
}

std::string seconds(std::chrono::milliseconds time) {
  return fmt::format("{:g} s", static_cast<double>(time.count()) / 1000.0);
}

}  // namespace

QNetworkRequest networkRequest(const HttpCall& call, EndpointKind kind, const Secret& key) {
  QNetworkRequest request(QUrl(QString::fromStdString(call.url)));
  request.setAttribute(QNetworkRequest::RedirectPolicyAttribute, QNetworkRequest::ManualRedirectPolicy);
  request.setAttribute(QNetworkRequest::CookieLoadControlAttribute, QNetworkRequest::Manual);
  request.setAttribute(QNetworkRequest::CookieSaveControlAttribute, QNetworkRequest::Manual);
  request.setAttribute(QNetworkRequest::CacheLoadControlAttribute, QNetworkRequest::AlwaysNetwork);
  request.setRawHeader("user-agent", "swage");
  for (const auto& [header, value] : call.headers) {
    request.setRawHeader(bytesOf(header), bytesOf(value));
  }
  if (!key.isEmpty()) {
    const HttpHeader header = keyHeader(kind, key.reveal());
    request.setRawHeader(bytesOf(header.name), bytesOf(header.value));
  }
  return request;
}

ChatFailure connectionFailure(const QNetworkReply& reply) {
  ChatFailure failure{.kind = FailureKind::Connection, .message = cleanLine(reply.errorString().toStdString(), 300)};
  if (reply.error() == QNetworkReply::SslHandshakeFailedError) {
    failure.hint = "its certificate could not be verified";
  }
  return failure;
}

HttpError httpErrorOf(const QNetworkReply& reply, const QByteArray& body) {
  HttpError error;
  error.status = reply.attribute(QNetworkRequest::HttpStatusCodeAttribute).toInt();
  for (const auto& [name, value] : reply.rawHeaderPairs()) {
    error.headers.push_back({name.toLower().toStdString(), value.trimmed().toStdString()});
  }
  error.body = body.left(kMostOfRefusal).toStdString();
  return error;
}

HttpExchange::HttpExchange(QNetworkAccessManager& network, const Endpoint& endpoint, const Secret& key,
                           const ChatRequest& request, QObject* parent)
    : QObject(parent), m_timeouts(endpoint.timeouts), m_reader(makeReplyReader(endpoint.kind)), m_collector(request) {
  const HttpCall call = chatCall(endpoint, request);
  m_reply = network.post(networkRequest(call, endpoint.kind, key), bytesOf(call.body));
  m_reply->setParent(this);
  m_reply->setReadBufferSize(kReadAtOnce);
  connect(m_reply, &QNetworkReply::readyRead, this, &HttpExchange::handleData);
  connect(m_reply, &QNetworkReply::finished, this, &HttpExchange::handleFinished, Qt::QueuedConnection);
  m_silence.setSingleShot(true);
  connect(&m_silence, &QTimer::timeout, this, [this] {
    failWith({.kind = FailureKind::Timeout,
              .message = m_collector.hasBegun() ? "the reply stopped for " + seconds(m_timeouts.idle)
                                                : "nothing came within " + seconds(m_timeouts.firstByte)});
  });
  m_silence.start(m_timeouts.firstByte);
  m_total.setSingleShot(true);
  connect(&m_total, &QTimer::timeout, this, [this] {
    failWith(
        {.kind = FailureKind::Timeout, .message = "the reply was not complete within " + seconds(m_timeouts.total)});
  });
  m_total.start(m_timeouts.total);
}

HttpExchange::~HttpExchange() {
  m_ended = true;
  m_reply->disconnect(this);
  m_reply->abort();
}

bool HttpExchange::isRefused() const {
  constexpr int kOk = 200;
  return m_reply->attribute(QNetworkRequest::HttpStatusCodeAttribute).toInt() != kOk;
}

void HttpExchange::handleData() {
  if (m_ended) {
    return;
  }
  const QByteArray bytes = m_reply->readAll();
  if (isRefused()) {
    m_refusal += bytes.left(kMostOfRefusal - std::min(kMostOfRefusal, m_refusal.size()));
    return;
  }
  const QByteArray type = m_reply->header(QNetworkRequest::ContentTypeHeader).toByteArray().toLower();
  if (type.startsWith("text/html")) {
    failWith({.kind = FailureKind::Garbled, .message = "a web page came instead of a reply"});
    return;
  }
  m_silence.start(m_timeouts.idle);
  take(m_reader->feed({bytes.constData(), static_cast<std::size_t>(bytes.size())}));
}

void HttpExchange::take(const std::vector<ChatEvent>& events) {
  for (const ChatEvent& event : events) {
    m_collector.take(event);
    if (const auto* delta = std::get_if<TextDelta>(&event)) {
      Q_EMIT received(delta->text);
    }
  }
  if (m_collector.isOver() && !m_ended) {
    m_failure = m_collector.failure();
    end();
  }
}

void HttpExchange::handleFinished() {
  if (m_ended) {
    return;
  }
  handleData();
  if (m_ended) {
    return;
  }
  if (m_reply->attribute(QNetworkRequest::HttpStatusCodeAttribute).toInt() == 0) {
    failWith(connectionFailure(*m_reply));
  } else if (isRefused()) {
    failWith(failureOf(httpErrorOf(*m_reply, m_refusal), QDateTime::currentMSecsSinceEpoch()));
  } else if (m_reply->error() != QNetworkReply::NoError) {
    failWith(connectionFailure(*m_reply));  // it broke in the middle
  } else {
    take(m_reader->finish());
  }
}

void HttpExchange::failWith(ChatFailure failure) {
  if (m_ended) {
    return;
  }
  failure.hasBegun = m_collector.hasBegun();
  m_failure = std::move(failure);
  end();
}

void HttpExchange::end() {
  m_ended = true;
  m_silence.stop();
  m_total.stop();
  m_reply->disconnect(this);
  m_reply->abort();
  Q_EMIT ended();
}

}  // namespace swage::models
