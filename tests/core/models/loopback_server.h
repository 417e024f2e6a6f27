// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QHostAddress>
#include <QTcpServer>
#include <QTcpSocket>

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/models/endpoint.h"

namespace swage::testing {

// A request as it came.
struct ServedRequest {
  std::string method;
  std::string path;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
};

// What the server does with a request.
struct ScriptedReply {
  enum class End : std::uint8_t {
    Whole,   // the last chunk is followed by the end of the reply
    Cut,     // the connection closes in the middle
    Open,    // nothing more comes
    Silent,  // not even a status
    Endless  // the last chunk is said again and again
  };
  int status = 200;
  std::string contentType = "text/event-stream";
  std::vector<std::pair<std::string, std::string>> headers{};
  std::vector<std::string> chunks{};
  End end = End::Whole;
};

// A model server on this machine: real HTTP/1.1 with chunked streaming, that does what its test says.
class LoopbackServer : public QTcpServer {
  Q_OBJECT

 public:
  using Script = std::function<ScriptedReply(const ServedRequest&)>;

  explicit LoopbackServer(Script script);

  [[nodiscard]] std::string url() const;
  [[nodiscard]] const std::vector<ServedRequest>& served() const { return m_served; }
  // The most that were being answered at a time.
  [[nodiscard]] int mostAtOnce() const { return m_mostAtOnce; }
  void setScript(Script script) { m_script = std::move(script); }

 private:
  void handleConnection();
  void handleData(QTcpSocket& socket);
  void answer(QTcpSocket& socket, const ScriptedReply& reply);

  Script m_script;
  std::map<QTcpSocket*, std::string> m_read;
  std::vector<ServedRequest> m_served;
  int m_open = 0;
  int m_mostAtOnce = 0;
};

// A text as each format streams it, in pieces of so many bytes, with what it used.
[[nodiscard]] ScriptedReply openAiReply(const std::string& text, int inputTokens = 10, int outputTokens = 20,
                                        const std::string& reason = "stop", std::size_t piece = 16);
[[nodiscard]] ScriptedReply anthropicReply(const std::string& text, int inputTokens = 10, int outputTokens = 20,
                                           const std::string& reason = "end_turn");
[[nodiscard]] ScriptedReply ollamaReply(const std::string& text, int inputTokens = 10, int outputTokens = 20,
                                        const std::string& reason = "stop");
[[nodiscard]] ScriptedReply errorReply(int status, const std::string& body,
                                       std::vector<std::pair<std::string, std::string>> headers = {});

// An endpoint of the server, with short timeouts.
[[nodiscard]] models::Endpoint endpointOf(const LoopbackServer& server, const std::string& name = "tester",
                                          models::EndpointKind kind = models::EndpointKind::OpenAi);

}  // namespace swage::testing
