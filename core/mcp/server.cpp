// SPDX-License-Identifier: Apache-2.0
#include "core/mcp/server.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

namespace swage::mcp {
namespace {

// Oldest first. Who asks for another one is offered the newest.
constexpr std::array<std::string_view, 3> kVersions{"2024-11-05", "2025-03-26", "2025-06-18"};
constexpr std::string_view kWithMessages = "2025-03-26";  // progress may say in words what is going on
constexpr std::string_view kWithTitles = "2025-06-18";

Json resourceJson(const Resource& resource, std::string_view address) {
  return {{address, resource.uri},
          {"name", resource.name},
          {"description", resource.description},
          {"mimeType", resource.mimeType}};
}

Json listJson(std::string_view name, std::string_view address, const std::vector<Resource>& resources) {
  Json list = Json::array();
  for (const Resource& resource : resources) {
    list.push_back(resourceJson(resource, address));
  }
  return {{name, std::move(list)}};
}

bool isText(const Json& json, const char* member) {
  return json.contains(member) && json[member].is_string();
}

}  // namespace

Server::Server(Facts facts, Host& host, Send send) : m_facts(std::move(facts)), m_host(host), m_send(std::move(send)) {}

void Server::receive(std::string_view line) {
  if (line.find_first_not_of(" \t\r") == std::string_view::npos) {
    return;
  }
  const Packet packet = readPacket(line);
  const auto batch = std::make_shared<Batch>();
  batch->isBatch = packet.isBatch;
  batch->open = static_cast<std::size_t>(
      std::count_if(packet.messages.begin(), packet.messages.end(), [](const Message& message) {
        return std::holds_alternative<Request>(message) || std::holds_alternative<Malformed>(message);
      }));
  for (const Message& message : packet.messages) {
    if (const auto* request = std::get_if<Request>(&message)) {
      handle(*request, batch);
    } else if (const auto* notification = std::get_if<Notification>(&message)) {
      handle(*notification);
    } else if (const auto* bad = std::get_if<Malformed>(&message)) {
      finish(batch, errorMessage(bad->id, bad->code, bad->why));
    }
  }
}

void Server::receiveOverlong() {
  send(errorMessage({}, ErrorCode::InvalidRequest, fmt::format("a line may have {} bytes", kMostOfLine)));
}

// Parts of a batch are held back until the last one is there.
void Server::finish(const BatchPtr& batch, Json answer) {
  --batch->open;
  if (!batch->isBatch) {
    send(answer);
    return;
  }
  if (!answer.is_null()) {
    batch->answers.push_back(std::move(answer));
  }
  if (batch->open == 0 && !batch->answers.empty()) {
    send(batch->answers);
  }
}

void Server::send(const Json& json) const {
  if (!json.is_null()) {
    m_send(domain::dumpJson(json));
  }
}

void Server::handle(const Request& request, const BatchPtr& batch) {
  const bool isTaken = std::any_of(m_calls.begin(), m_calls.end(),
                                   [&request](const auto& call) { return call.second.id == request.id; });
  if (isTaken) {
    finish(batch, errorMessage(request.id, ErrorCode::InvalidRequest, "a request with this id is in progress"));
  } else if (m_version.empty() && request.method != "initialize" && request.method != "ping") {
    finish(batch, errorMessage(request.id, ErrorCode::InvalidRequest, "the first request must be initialize"));
  } else if (request.method == "tools/call") {
    callTool(request, batch);
  } else {
    finish(batch, answerTo(request));
  }
}

void Server::handle(const Notification& notification) {
  if (notification.method == "notifications/cancelled") {
    cancel(notification.params);
  }
}

Json Server::answerTo(const Request& request) {
  if (request.method == "initialize") {
    return initialize(request);
  }
  if (request.method == "ping") {
    return resultMessage(request.id, Json::object());
  }
  if (request.method == "tools/list") {
    return listTools(request);
  }
  if (request.method == "resources/list") {
    return resultMessage(request.id, listJson("resources", "uri", m_host.resources()));
  }
  if (request.method == "resources/templates/list") {
    return resultMessage(request.id, listJson("resourceTemplates", "uriTemplate", m_host.templates()));
  }
  if (request.method == "resources/read") {
    return readResource(request);
  }
  return errorMessage(request.id, ErrorCode::MethodNotFound,
                      fmt::format("there is no method '{}'", request.method.substr(0, 100)));
}

Json Server::initialize(const Request& request) {
  if (!m_version.empty()) {
    return errorMessage(request.id, ErrorCode::InvalidRequest, "the session is initialised already");
  }
  if (!isText(request.params, "protocolVersion")) {
    return errorMessage(request.id, ErrorCode::InvalidParams, "initialize needs a protocolVersion");
  }
  const auto wanted = request.params["protocolVersion"].get<std::string>();
  const bool isKnown = std::find(kVersions.begin(), kVersions.end(), wanted) != kVersions.end();
  m_version = isKnown ? wanted : std::string(kVersions.back());
  const Json client = request.params.value("clientInfo", Json::object());
  m_host.greet(isText(client, "name") ? client["name"].get<std::string>() : std::string());
  Json server{{"name", m_facts.name}, {"version", m_facts.version}};
  if (m_version >= kWithTitles) {
    server["title"] = m_facts.title;
  }
  return resultMessage(request.id, {{"protocolVersion", m_version},
                                    {"capabilities", {{"tools", Json::object()}, {"resources", Json::object()}}},
                                    {"serverInfo", std::move(server)},
                                    {"instructions", m_facts.instructions}});
}

Json Server::listTools(const Request& request) const {
  Json list = Json::array();
  for (const Tool& tool : m_host.tools()) {
    Json json{{"name", tool.name}, {"description", tool.description}, {"inputSchema", tool.inputSchema}};
    if (m_version >= kWithMessages) {
      json["annotations"] = {{"title", tool.title},
                             {"readOnlyHint", tool.isReadOnly},
                             {"destructiveHint", false},
                             {"idempotentHint", tool.isRepeatable},
                             {"openWorldHint", false}};
    }
    if (m_version >= kWithTitles) {
      json["title"] = tool.title;
    }
    list.push_back(std::move(json));
  }
  return resultMessage(request.id, {{"tools", std::move(list)}});
}

Json Server::readResource(const Request& request) const {
  if (!isText(request.params, "uri")) {
    return errorMessage(request.id, ErrorCode::InvalidParams, "resources/read needs a uri");
  }
  const auto uri = request.params["uri"].get<std::string>();
  const Result<ResourceText> text = m_host.read(uri);
  if (!text) {
    const bool isMissing = text.error().kind() == ErrorKind::NotFound;
    return errorMessage(request.id, isMissing ? ErrorCode::ResourceNotFound : ErrorCode::InternalError,
                        text.error().message());
  }
  return resultMessage(request.id,
                       {{"contents", {{{"uri", uri}, {"mimeType", text->mimeType}, {"text", text->text}}}}});
}

void Server::callTool(const Request& request, const BatchPtr& batch) {
  Json arguments = request.params.value("arguments", Json());
  if (arguments.is_null()) {
    arguments = Json::object();
  }
  if (!isText(request.params, "name") || !arguments.is_object()) {
    finish(batch, errorMessage(request.id, ErrorCode::InvalidParams,
                               "tools/call needs a name and, if any, arguments in an object"));
    return;
  }
  const std::int64_t number = m_nextCall++;
  const Json meta = request.params.value("_meta", Json::object());
  Json token = meta.is_object() ? meta.value("progressToken", Json()) : Json();
  if (!token.is_string() && !token.is_number_integer()) {
    token = nullptr;
  }
  m_calls.emplace(number, Call{request.id, batch, std::move(token)});
  m_host.call(
      {.number = number,
       .tool = request.params["name"].get<std::string>(),
       .arguments = arguments,
       .progress = [this, number](double done, const std::string& message) { tellProgress(number, done, message); },
       .answer = [this, number](const ToolAnswer& answer) { answerCall(number, answer); }});
}

// No answer follows: neither an error nor what was found meanwhile.
void Server::cancel(const Json& params) {
  const Json id = params.value("requestId", Json());
  const auto found =
      std::find_if(m_calls.begin(), m_calls.end(), [&id](const auto& call) { return call.second.id == id; });
  if (found == m_calls.end()) {
    return;
  }
  const std::int64_t number = found->first;
  const BatchPtr batch = found->second.batch;
  m_calls.erase(found);
  finish(batch, nullptr);
  m_host.cancel(number);
}

void Server::tellProgress(std::int64_t number, double done, const std::string& message) {
  const auto found = m_calls.find(number);
  if (found == m_calls.end() || found->second.progressToken.is_null()) {
    return;
  }
  Json params{{"progressToken", found->second.progressToken}, {"progress", done}};
  if (m_version >= kWithMessages) {
    params["message"] = message;
  }
  send(notificationMessage("notifications/progress", std::move(params)));
}

void Server::answerCall(std::int64_t number, const ToolAnswer& answer) {
  const auto found = m_calls.find(number);
  if (found == m_calls.end()) {
    return;
  }
  const Call call = std::move(found->second);
  m_calls.erase(found);
  finish(call.batch, resultMessage(call.id, {{"content", {{{"type", "text"}, {"text", answer.text}}}},
                                             {"isError", answer.isError}}));
}

}  // namespace swage::mcp
