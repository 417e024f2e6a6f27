// SPDX-License-Identifier: Apache-2.0
#include "core/models/endpoint.h"

#include <QHostAddress>
#include <QString>
#include <QUrl>

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

namespace swage::models {
namespace {

constexpr std::array<std::pair<EndpointKind, std::string_view>, 5> kKinds{{{EndpointKind::OpenAi, "openai"},
                                                                           {EndpointKind::Anthropic, "anthropic"},
                                                                           {EndpointKind::Ollama, "ollama"},
                                                                           {EndpointKind::Exchange, "exchange"},
                                                                           {EndpointKind::Replay, "replay"}}};

Error unusable(const Endpoint& endpoint, const std::string& why, std::string hint = {}) {
  return Error(ErrorKind::Config, fmt::format("the model '{}' cannot be used: {}", endpoint.name, why),
               std::move(hint));
}

bool isPrivate(const QHostAddress& address) {
  constexpr std::array<const char*, 6> kNetworks{"10.0.0.0/8",     "172.16.0.0/12", "192.168.0.0/16",
                                                 "169.254.0.0/16", "fc00::/7",      "fe80::/10"};
  return address.isLoopback() || std::any_of(kNetworks.begin(), kNetworks.end(), [&address](const char* network) {
           return address.isInSubnet(QHostAddress::parseSubnet(QLatin1String(network)));
         });
}

// By name only: what a name resolves to may change from call to call.
bool isNear(const QString& host) {
  if (host == QLatin1String("localhost") || host.endsWith(QLatin1String(".localhost"))) {
    return true;
  }
  const QHostAddress address(host);
  return !address.isNull() && isPrivate(address);
}

Result<> checkAddress(const Endpoint& endpoint) {
  const QUrl url(QString::fromStdString(endpoint.baseUrl), QUrl::StrictMode);
  const bool isPlain = url.scheme() == QLatin1String("http");
  if (!url.isValid() || url.host().isEmpty() || (!isPlain && url.scheme() != QLatin1String("https"))) {
    return unusable(endpoint, fmt::format("'{}' is no address", endpoint.baseUrl),
                    "it looks like https://api.example.com/v1 or http://localhost:11434");
  }
  if (!url.userInfo().isEmpty()) {
    return unusable(endpoint, "its address contains a password", "name the key with `key_env` or `key_command`");
  }
  if (isPlain && !endpoint.allowPlain && !isNear(url.host())) {
    return unusable(endpoint, fmt::format("http:// would send the key in the clear to '{}'", url.host().toStdString()),
                    "use https://, or set `allow_plain = true` if the network can be trusted");
  }
  return {};
}

bool mayCarryKey(std::string_view header) {
  std::string lower(header);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  constexpr std::array<std::string_view, 5> kWords{"auth", "key", "token", "secret", "cookie"};
  return std::any_of(kWords.begin(), kWords.end(),
                     [&lower](std::string_view word) { return lower.find(word) != std::string::npos; });
}

bool isHeader(std::string_view name, std::string_view value) {
  const auto isNameByte = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
  };
  return !name.empty() && std::all_of(name.begin(), name.end(), isNameByte) &&
         std::all_of(value.begin(), value.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

}  // namespace

std::string_view name(EndpointKind kind) {
  const auto* const found =
      std::find_if(kKinds.begin(), kKinds.end(), [kind](const auto& k) { return k.first == kind; });
  return found == kKinds.end() ? "openai" : found->second;
}

std::optional<EndpointKind> parseEndpointKind(std::string_view text) {
  const auto* const found =
      std::find_if(kKinds.begin(), kKinds.end(), [text](const auto& kind) { return kind.second == text; });
  return found == kKinds.end() ? std::nullopt : std::optional(found->first);
}

bool isHttp(EndpointKind kind) {
  return kind == EndpointKind::OpenAi || kind == EndpointKind::Anthropic || kind == EndpointKind::Ollama;
}

double TokenPrice::of(const TokenUsage& usage) const {
  constexpr double kMillion = 1e6;
  const std::int64_t cached = std::clamp<std::int64_t>(usage.cachedInput, 0, std::max<std::int64_t>(usage.input, 0));
  return (static_cast<double>(usage.input - cached) * input + static_cast<double>(cached) * cachedInput +
          static_cast<double>(usage.output) * output) /
         kMillion;
}

Result<> checkEndpoint(const Endpoint& endpoint) {
  if (const Result<domain::ProposerName> named = proposerNameOf(endpoint.name); !named) {
    return named.error();
  }
  if (!isHttp(endpoint.kind)) {
    return endpoint.baseUrl.empty() ? Result<>(unusable(endpoint, "it names no folder or file")) : Result<>();
  }
  SWAGE_TRY(checkAddress(endpoint));
  if (endpoint.model.empty()) {
    return unusable(endpoint, "it does not say which model", "set `model`");
  }
  for (const auto& [header, value] : endpoint.headers) {
    if (!isHeader(header, value)) {
      return unusable(endpoint, fmt::format("'{}' is no header", header));
    }
    if (mayCarryKey(header)) {
      return unusable(endpoint,
                      fmt::format("the header '{}' may carry a key, which has no place in a file of settings", header),
                      "name the key with `key_env`, `key_command`, `key_file` or `key_keychain`");
    }
  }
  return {};
}

Result<domain::ProposerName> proposerNameOf(std::string_view endpointName) {
  std::string text(endpointName);
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '-' || c == '_'; }, ' ');
  auto parsed = domain::ProposerName::parse(text);
  if (!parsed || parsed->kind() || text == "search") {
    return Error(ErrorKind::Config, fmt::format("'{}' cannot be the name of a model", endpointName),
                 "a name begins with a letter, has only a-z, 0-9, '.', '-', '_', '/', and is not that of an operator");
  }
  return std::move(*parsed);
}

}  // namespace swage::models
