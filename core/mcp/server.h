// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/mcp/message.h"

namespace swage::mcp {

// A tool as tools/list describes it.
struct Tool {
  std::string name;
  std::string title;
  std::string description;
  Json inputSchema;          // JSON Schema of an object
  bool isReadOnly = true;    // it changes nothing
  bool isRepeatable = true;  // doing it twice does no more than doing it once
};

// A resource that is there, or, with {variables} in its address, a kind of resource.
struct Resource {
  std::string uri;
  std::string name;
  std::string description;
  std::string mimeType;
};
struct ResourceText {
  std::string mimeType;
  std::string text;
};

// What a tool answers: text for the model, or the reason why there is none.
struct ToolAnswer {
  std::string text;
  bool isError = false;
};

// One call of a tool. Its two functions may be called as long as the server lives; `answer` once.
struct ToolCall {
  std::int64_t number = 0;  // of this server's calls, for cancel()
  std::string tool;
  Json arguments;                                                 // an object
  std::function<void(double done, const std::string&)> progress;  // `done` must grow
  std::function<void(const ToolAnswer&)> answer;
};

// Who offers tools and resources. Called on the thread of the server.
class Host {
 public:
  virtual ~Host() = default;
  [[nodiscard]] virtual std::vector<Tool> tools() const = 0;
  // Called for every name; answered at once or later.
  virtual void call(ToolCall call) = 0;
  // The client wants no answer of it any more, and gets none.
  virtual void cancel(std::int64_t number) = 0;
  [[nodiscard]] virtual std::vector<Resource> resources() const = 0;
  [[nodiscard]] virtual std::vector<Resource> templates() const = 0;
  // NotFound: there is none of that address.
  [[nodiscard]] virtual Result<ResourceText> read(const std::string& uri) const = 0;
  // The client has said what it is: "claude-code".
  virtual void greet(const std::string& clientName) = 0;
};

// A server of the Model Context Protocol in the versions 2024-11-05, 2025-03-26 and 2025-06-18, without its transport:
// lines go in, lines come out. Whatever comes in, it answers or ignores it. One thread only; nothing here waits.
class Server {
 public:
  struct Facts {
    std::string name;
    std::string title;
    std::string version;
    std::string instructions;  // for the client's model
  };
  using Send = std::function<void(const std::string& line)>;  // without its end

  // `host` must outlive it.
  Server(Facts facts, Host& host, Send send);

  void receive(std::string_view line);
  // A line too long to be kept.
  void receiveOverlong();
  [[nodiscard]] std::size_t callsInProgress() const { return m_calls.size(); }

 private:
  // The answers to one packet.
  struct Batch {
    std::size_t open = 0;
    bool isBatch = false;
    Json answers = Json::array();
  };
  using BatchPtr = std::shared_ptr<Batch>;
  struct Call {
    Json id;
    BatchPtr batch;
    Json progressToken;  // null: nobody wants to hear
  };

  void handle(const Request& request, const BatchPtr& batch);
  void handle(const Notification& notification);
  void finish(const BatchPtr& batch, Json answer);
  void send(const Json& json) const;
  [[nodiscard]] Json answerTo(const Request& request);
  [[nodiscard]] Json initialize(const Request& request);
  [[nodiscard]] Json listTools(const Request& request) const;
  [[nodiscard]] Json readResource(const Request& request) const;
  void callTool(const Request& request, const BatchPtr& batch);
  void cancel(const Json& params);
  void tellProgress(std::int64_t number, double done, const std::string& message);
  void answerCall(std::int64_t number, const ToolAnswer& answer);

  Facts m_facts;
  Host& m_host;
  Send m_send;
  std::string m_version;  // empty: not initialised
  std::int64_t m_nextCall = 1;
  std::map<std::int64_t, Call> m_calls;
};

}  // namespace swage::mcp
