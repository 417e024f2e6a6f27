// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/domain/proposer_name.h"
#include "core/models/chat.h"

namespace swage::models {

// How a language model is reached. The first three are formats of HTTP; exchange is a folder where a person, or a
// program of theirs, answers; replay answers with what was recorded.
enum class EndpointKind : std::uint8_t { OpenAi, Anthropic, Ollama, Exchange, Replay };
[[nodiscard]] std::string_view name(EndpointKind kind);  // "openai"
[[nodiscard]] std::optional<EndpointKind> parseEndpointKind(std::string_view text);
[[nodiscard]] bool isHttp(EndpointKind kind);

// Where the key is, never the key itself.
struct KeySource {
  enum class From : std::uint8_t { Nowhere, Command, Environment, Keychain, File } from = From::Nowhere;
  std::string where;  // the command, the variable, the account in the keychain, the file
  friend bool operator==(const KeySource&, const KeySource&) = default;
};

// In US dollars for a million tokens.
struct TokenPrice {
  double input = 0.0;
  double cachedInput = 0.0;
  double output = 0.0;

  [[nodiscard]] double of(const TokenUsage& usage) const;
  friend bool operator==(const TokenPrice&, const TokenPrice&) = default;
};

struct EndpointTimeouts {
  std::chrono::milliseconds firstByte = std::chrono::seconds(120);
  std::chrono::milliseconds idle = std::chrono::seconds(60);  // between bytes
  std::chrono::milliseconds total = std::chrono::seconds(600);
  friend bool operator==(const EndpointTimeouts&, const EndpointTimeouts&) = default;
};

// What an endpoint does not understand.
struct EndpointQuirks {
  bool noSystem = false;             // the system's text goes in front of the first message
  bool noTemperature = false;        // neither temperature nor seed is sent
  bool maxCompletionTokens = false;  // instead of max_tokens
  bool noStreamOptions = false;
  friend bool operator==(const EndpointQuirks&, const EndpointQuirks&) = default;
};

struct Endpoint {
  std::string name{};
  EndpointKind kind = EndpointKind::OpenAi;
  std::string baseUrl{};                // of HTTP, without what the format adds; of the others their folder or file
  std::string model{};                  // as the endpoint calls it
  KeySource key{};                      // of HTTP
  std::optional<TokenPrice> price{};    // no value: not known, which is not nothing
  int maxOutput = 8192;                 // tokens of a reply
  int maxContext = 65536;               // tokens of request and reply together
  int concurrency = 2;                  // calls at once
  std::optional<int> callsAMinute{};    // no value: as many as it takes
  std::optional<int> tokensAMinute{};   // the same
  std::optional<double> temperature{};  // no value: the endpoint's own
  EndpointTimeouts timeouts{};
  EndpointQuirks quirks{};
  std::map<std::string, std::string> headers{};  // sent with every call; no place for keys
  bool allowPlain = false;                       // http:// also to hosts far away
  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

// What cannot be used, of kind Config: a name that is none, an address that is none, one without TLS that is neither of
// this machine nor of a private network, a header that may carry a key.
[[nodiscard]] Result<> checkEndpoint(const Endpoint& endpoint);
// Under which its candidates are recorded. An endpoint's name is made of a-z, 0-9 and `.`, `/`, `-`, `_`, begins with
// a letter, and is not that of an operator.
[[nodiscard]] Result<domain::ProposerName> proposerNameOf(std::string_view endpointName);

}  // namespace swage::models
