// SPDX-License-Identifier: Apache-2.0
#include "core/models/token_server.h"

#include <QHostAddress>

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "core/domain/json.h"

namespace swage::models {
namespace {

constexpr std::chrono::milliseconds kTick{5};
constexpr qint64 kMostQueued = qint64{1} << 20U;  // of one connection, before it is left out for a tick

std::string chunkOf(const std::string& data) {
  return fmt::format("{:x}\r\n{}\r\n", data.size(), data);
}

std::string eventOf(const domain::Json& json) {
  return chunkOf("data: " + domain::dumpJson(json) + "\n\n");
}

}  // namespace

TokenServer::TokenServer(Options options) : m_options(std::move(options)) {
  const std::size_t bytes = static_cast<std::size_t>(m_options.tokensPerEvent) * Options::kBytesPerToken;
  for (std::size_t at = 0; at < m_options.reply.size(); at += bytes) {
    m_events.push_back(eventOf(
        {{"id", "1"},
         {"model", "tokens"},
         {"choices",
          domain::Json::array({{{"index", 0}, {"delta", {{"content", m_options.reply.substr(at, bytes)}}}}})}}));
  }
  connect(this, &QTcpServer::newConnection, this, &TokenServer::handleConnection);
  m_tick.setTimerType(Qt::PreciseTimer);
  m_tick.setInterval(kTick);
  m_tick.setParent(this);
  connect(&m_tick, &QTimer::timeout, this, &TokenServer::tick);
}

bool TokenServer::open() {
  m_clock.start();
  m_tick.start();
  return listen(QHostAddress::LocalHost);
}

void TokenServer::handleConnection() {
  while (QTcpSocket* socket = nextPendingConnection()) {
    m_streams[socket] = {};
    connect(socket, &QTcpSocket::readyRead, this, [this, socket] { handleData(*socket); });
    connect(socket, &QTcpSocket::disconnected, this, [this, socket] {
      m_streams.erase(socket);
      socket->deleteLater();
    });
  }
}

// A question is a head and a body of a length that the head names.
void TokenServer::handleData(QTcpSocket& socket) {
  Stream& stream = m_streams[&socket];
  stream.read += socket.readAll().toStdString();
  const std::size_t head = stream.read.find("\r\n\r\n");
  if (head == std::string::npos) {
    return;
  }
  std::string lower = stream.read.substr(0, head);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  const std::size_t field = lower.find("content-length:");
  const std::size_t length =
      field == std::string::npos ? 0 : static_cast<std::size_t>(std::stoul(lower.substr(field + 15)));
  if (stream.read.size() < head + 4 + length) {
    return;
  }
  stream.read.erase(0, head + 4 + length);
  stream.isAnswering = true;
  stream.next = 0;
  socket.write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
}

std::string TokenServer::ending() const {
  const auto tokens = static_cast<std::int64_t>(m_events.size()) * m_options.tokensPerEvent;
  return eventOf({{"choices", domain::Json::array({{{"delta", domain::Json::object()}, {"finish_reason", "stop"}}})}}) +
         eventOf({{"choices", domain::Json::array()},
                  {"usage", {{"prompt_tokens", 1000}, {"completion_tokens", tokens}}}}) +
         chunkOf("data: [DONE]\n\n") + "0\r\n\r\n";
}

int TokenServer::send(QTcpSocket& socket, Stream& stream, int events) {
  const std::size_t end = std::min(m_events.size(), stream.next + static_cast<std::size_t>(events));
  const auto sent = static_cast<int>(end - stream.next);
  std::string data;
  for (; stream.next < end; ++stream.next) {
    data += m_events[stream.next];
  }
  if (stream.next == m_events.size()) {
    data += ending();
    stream.isAnswering = false;
    ++m_stats.replies;
  }
  socket.write(data.data(), static_cast<qint64>(data.size()));
  return sent;
}

void TokenServer::tick() {
  constexpr double kNs = 1e9;
  const double seconds = static_cast<double>(m_clock.nsecsElapsed()) / kNs;
  m_clock.restart();
  std::vector<std::pair<QTcpSocket*, Stream*>> ready;
  std::int64_t queued = 0;
  for (auto& [socket, stream] : m_streams) {
    queued += socket->bytesToWrite();
    if (stream.isAnswering && socket->bytesToWrite() < kMostQueued) {
      ready.emplace_back(socket, &stream);
    }
  }
  m_stats.queuedBytes = queued;
  if (m_streams.empty()) {
    return;
  }
  m_owed += seconds * m_options.tokensPerSecond / m_options.tokensPerEvent;
  // Who has ended its reply leaves its part to the others.
  for (std::size_t i = 0; i < ready.size() && m_owed >= 1.0; ++i) {
    const int share = std::max(1, static_cast<int>(m_owed / static_cast<double>(ready.size() - i)));
    const int sent = send(*ready[i].first, *ready[i].second, share);
    m_owed -= sent;
    m_stats.tokens += static_cast<std::int64_t>(sent) * m_options.tokensPerEvent;
  }
  m_stats.behindTokens = static_cast<std::int64_t>(m_owed) * m_options.tokensPerEvent;
}

}  // namespace swage::models
