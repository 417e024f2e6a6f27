// SPDX-License-Identifier: Apache-2.0
#include "tests/core/models/loopback_server.h"

#include <QTimer>

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/domain/json.h"

namespace swage::testing {
namespace {

using domain::Json;

// The whole request, or nothing yet.
std::optional<ServedRequest> parse(const std::string& bytes) {
  const std::size_t end = bytes.find("\r\n\r\n");
  if (end == std::string::npos) {
    return std::nullopt;
  }
  ServedRequest request;
  std::size_t at = bytes.find("\r\n");
  const std::string first = bytes.substr(0, at);
  request.method = first.substr(0, first.find(' '));
  request.path = first.substr(request.method.size() + 1, first.rfind(' ') - request.method.size() - 1);
  while (at < end) {
    const std::size_t next = bytes.find("\r\n", at + 2);
    const std::string line = bytes.substr(at + 2, next - at - 2);
    const std::size_t colon = line.find(':');
    std::string name = line.substr(0, colon);
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    request.headers[name] = line.substr(std::min(colon + 2, line.size()));
    at = next;
  }
  const std::size_t length =
      request.headers.contains("content-length") ? std::stoul(request.headers["content-length"]) : 0;
  request.body = bytes.substr(end + 4);
  return request.body.size() < length ? std::nullopt : std::optional(request);
}

std::vector<std::string> piecesOf(const std::string& text, std::size_t size) {
  std::vector<std::string> pieces;
  for (std::size_t at = 0; at < text.size(); at += size) {
    pieces.push_back(text.substr(at, size));
  }
  return pieces;
}

}  // namespace

LoopbackServer::LoopbackServer(Script script) : m_script(std::move(script)) {
  SWAGE_ASSERT(listen(QHostAddress::LocalHost));
  connect(this, &QTcpServer::newConnection, this, &LoopbackServer::handleConnection);
}

std::string LoopbackServer::url() const {
  return fmt::format("http://127.0.0.1:{}", serverPort());
}

void LoopbackServer::handleConnection() {
  while (QTcpSocket* socket = nextPendingConnection()) {
    connect(socket, &QTcpSocket::readyRead, this, [this, socket] { handleData(*socket); });
    connect(socket, &QTcpSocket::disconnected, this, [this, socket] {
      m_read.erase(socket);
      socket->deleteLater();
    });
  }
}

void LoopbackServer::handleData(QTcpSocket& socket) {
  const QByteArray bytes = socket.readAll();
  std::string& read = m_read[&socket];
  read.append(bytes.constData(), static_cast<std::size_t>(bytes.size()));
  if (read.front() != 'P' && read.front() != 'G') {  // TLS, for example
    socket.abort();
    return;
  }
  const auto request = parse(read);
  if (!request) {
    return;
  }
  read.clear();
  m_served.push_back(*request);
  m_mostAtOnce = std::max(m_mostAtOnce, ++m_open);
  connect(&socket, &QTcpSocket::disconnected, this, [this] { --m_open; });
  answer(socket, m_script(*request));
}

void LoopbackServer::answer(QTcpSocket& socket, const ScriptedReply& reply) {
  if (reply.end == ScriptedReply::End::Silent) {
    return;
  }
  std::string head = fmt::format("HTTP/1.1 {} Scripted\r\nContent-Type: {}\r\nTransfer-Encoding: chunked\r\n",
                                 reply.status, reply.contentType);
  for (const auto& [name, value] : reply.headers) {
    head += name + ": " + value + "\r\n";
  }
  socket.write((head + "Connection: close\r\n\r\n").c_str());
  const auto send = [&socket](const std::string& chunk) {
    if (socket.state() != QAbstractSocket::ConnectedState) {
      return;  // the caller has gone
    }
    const std::string framed = fmt::format("{:x}\r\n", chunk.size()) + chunk + "\r\n";
    socket.write(framed.data(), static_cast<qint64>(framed.size()));
  };
  for (const std::string& chunk : reply.chunks) {
    send(chunk);
    socket.flush();
  }
  if (socket.state() != QAbstractSocket::ConnectedState) {
    return;
  }
  if (reply.end == ScriptedReply::End::Whole) {
    socket.write("0\r\n\r\n");
    socket.disconnectFromHost();
  } else if (reply.end == ScriptedReply::End::Cut) {
    socket.flush();
    socket.disconnectFromHost();
  } else if (reply.end == ScriptedReply::End::Endless) {
    auto* again = new QTimer(&socket);
    connect(again, &QTimer::timeout, &socket, [&socket, send, chunk = reply.chunks.back()] {
      constexpr qint64 kMostWaiting = 1 << 20;
      while (socket.state() == QAbstractSocket::ConnectedState && socket.bytesToWrite() < kMostWaiting) {
        send(chunk);
      }
    });
    again->start(1);
  }
}

ScriptedReply openAiReply(const std::string& text, int inputTokens, int outputTokens, const std::string& reason,
                          std::size_t piece) {
  ScriptedReply reply;
  const auto add = [&reply](const Json& json) { reply.chunks.push_back("data: " + domain::dumpJson(json) + "\n\n"); };
  for (const std::string& part : piecesOf(text, piece)) {
    add({{"id", "reply-1"},
         {"model", "loopback-model"},
         {"choices", {{{"index", 0}, {"delta", {{"content", part}}}, {"finish_reason", nullptr}}}}});
  }
  add({{"id", "reply-1"},
       {"model", "loopback-model"},
       {"choices", {{{"index", 0}, {"delta", Json::object()}, {"finish_reason", reason}}}}});
  add({{"id", "reply-1"},
       {"choices", Json::array()},
       {"usage", {{"prompt_tokens", inputTokens}, {"completion_tokens", outputTokens}}}});
  reply.chunks.emplace_back("data: [DONE]\n\n");
  return reply;
}

ScriptedReply anthropicReply(const std::string& text, int inputTokens, int outputTokens, const std::string& reason) {
  ScriptedReply reply;
  const auto add = [&reply](const std::string& name, Json json) {
    json["type"] = name;
    reply.chunks.push_back("event: " + name + "\ndata: " + domain::dumpJson(json) + "\n\n");
  };
  add("message_start", {{"message",
                         {{"id", "msg-1"},
                          {"model", "loopback-model"},
                          {"usage", {{"input_tokens", inputTokens}, {"output_tokens", 1}}}}}});
  add("content_block_start", {{"index", 0}, {"content_block", {{"type", "text"}, {"text", ""}}}});
  add("ping", Json::object());
  add("content_block_delta", {{"index", 0}, {"delta", {{"type", "thinking_delta"}, {"thinking", "hmm"}}}});
  for (const std::string& part : piecesOf(text, 16)) {
    add("content_block_delta", {{"index", 0}, {"delta", {{"type", "text_delta"}, {"text", part}}}});
  }
  add("content_block_stop", {{"index", 0}});
  add("message_delta", {{"delta", {{"stop_reason", reason}}}, {"usage", {{"output_tokens", outputTokens}}}});
  add("message_stop", Json::object());
  return reply;
}

ScriptedReply ollamaReply(const std::string& text, int inputTokens, int outputTokens, const std::string& reason) {
  ScriptedReply reply;
  reply.contentType = "application/x-ndjson";
  for (const std::string& part : piecesOf(text, 16)) {
    reply.chunks.push_back(
        domain::dumpJson(
            {{"model", "loopback-model"}, {"message", {{"role", "assistant"}, {"content", part}}}, {"done", false}}) +
        "\n");
  }
  reply.chunks.push_back(domain::dumpJson({{"model", "loopback-model"},
                                           {"message", {{"role", "assistant"}, {"content", ""}}},
                                           {"done", true},
                                           {"done_reason", reason},
                                           {"prompt_eval_count", inputTokens},
                                           {"eval_count", outputTokens}}) +
                         "\n");
  return reply;
}

ScriptedReply errorReply(int status, const std::string& body,
                         std::vector<std::pair<std::string, std::string>> headers) {
  ScriptedReply reply;
  reply.status = status;
  reply.contentType = "application/json";
  reply.headers = std::move(headers);
  reply.chunks = {body};
  return reply;
}

models::Endpoint endpointOf(const LoopbackServer& server, const std::string& name, models::EndpointKind kind) {
  models::Endpoint endpoint;
  endpoint.name = name;
  endpoint.kind = kind;
  endpoint.baseUrl = server.url();
  endpoint.model = "loopback-model";
  endpoint.price = models::TokenPrice{.input = 1.0, .cachedInput = 0.1, .output = 10.0};
  return endpoint;
}

}  // namespace swage::testing
