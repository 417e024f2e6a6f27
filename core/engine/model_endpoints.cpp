// SPDX-License-Identifier: Apache-2.0
#include "core/engine/model_endpoints.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "core/base/closest_word.h"
#include "core/base/duration.h"
#include "core/base/files.h"
#include "core/engine/settings_text.h"

namespace swage::engine {
namespace {

namespace fs = std::filesystem;
using models::Endpoint;
using models::KeySource;

constexpr std::size_t kMaxBytes = std::size_t{1} << 20U;
constexpr std::string_view kSection = "models";

Error wrong(const fs::path& file, std::string_view model, const std::string& what, std::string hint = {}) {
  return Error(ErrorKind::Config, fmt::format("the model '{}' in '{}': {}", model, file.string(), what),
               std::move(hint));
}

// What a member of the table says of an endpoint. False: it has another type, or is out of range.
using Take = std::function<bool(Endpoint&, const toml::node&)>;

Take text(std::string Endpoint::*member) {
  return [member](Endpoint& endpoint, const toml::node& node) {
    const auto* value = node.as_string();
    if (value != nullptr) {
      endpoint.*member = value->get();
    }
    return value != nullptr;
  };
}

Take key(KeySource::From from) {
  return [from](Endpoint& endpoint, const toml::node& node) {
    const auto* value = node.as_string();
    const bool isFirst = endpoint.key.from == KeySource::From::Nowhere;
    if (value != nullptr && isFirst && !value->get().empty()) {
      endpoint.key = {from, value->get()};
      return true;
    }
    return false;
  };
}

std::optional<int> positive(const toml::node& node) {
  constexpr std::int64_t kMost = 1'000'000'000;
  const auto* value = node.as_integer();
  return value != nullptr && value->get() > 0 && value->get() <= kMost ? std::optional(static_cast<int>(value->get()))
                                                                       : std::nullopt;
}

template <class Member>
Take count(Member member) {
  return [member](Endpoint& endpoint, const toml::node& node) {
    const auto value = positive(node);
    if (value) {
      endpoint.*member = *value;
    }
    return value.has_value();
  };
}

std::optional<double> amount(const toml::node& node) {
  const auto value = node.value<double>();
  return value && *value >= 0.0 && *value < 1e6 ? value : std::nullopt;
}

Take price(double models::TokenPrice::*member) {
  return [member](Endpoint& endpoint, const toml::node& node) {
    const auto value = amount(node);
    if (value) {
      endpoint.price = endpoint.price.value_or(models::TokenPrice());
      (*endpoint.price).*member = *value;
    }
    return value.has_value();
  };
}

Take timeout(std::chrono::milliseconds models::EndpointTimeouts::*member) {
  return [member](Endpoint& endpoint, const toml::node& node) {
    const auto* value = node.as_string();
    const Result<double> seconds = parseDuration(value == nullptr ? std::string() : value->get());
    if (seconds && *seconds > 0.0) {
      constexpr double kMs = 1000.0;
      endpoint.timeouts.*member = std::chrono::milliseconds(static_cast<std::int64_t>(*seconds * kMs));
    }
    return seconds.has_value() && *seconds > 0.0;
  };
}

bool takeFlag(bool& flag, const toml::node& node) {
  const auto* value = node.as_boolean();
  flag = value != nullptr && value->get();
  return value != nullptr;
}

Take quirk(bool models::EndpointQuirks::*member) {
  return [member](Endpoint& endpoint, const toml::node& node) { return takeFlag(endpoint.quirks.*member, node); };
}

bool takeHeaders(Endpoint& endpoint, const toml::node& node) {
  const toml::table* table = node.as_table();
  if (table == nullptr) {
    return false;
  }
  for (const auto& [name, value] : *table) {
    const auto* header = value.as_string();
    if (header == nullptr) {
      return false;
    }
    endpoint.headers.emplace(name.str(), header->get());
  }
  return true;
}

struct Member {
  std::string_view name;
  Take take;
};

const std::vector<Member>& members() {
  static const std::vector<Member> all{
      {"kind",
       [](Endpoint& endpoint, const toml::node& node) {
         const auto* value = node.as_string();
         const auto kind = value == nullptr ? std::nullopt : models::parseEndpointKind(value->get());
         endpoint.kind = kind.value_or(endpoint.kind);
         return kind.has_value();
       }},
      {"base_url", text(&Endpoint::baseUrl)},
      {"model", text(&Endpoint::model)},
      {"key_command", key(KeySource::From::Command)},
      {"key_env", key(KeySource::From::Environment)},
      {"key_keychain", key(KeySource::From::Keychain)},
      {"key_file", key(KeySource::From::File)},
      {"price_input", price(&models::TokenPrice::input)},
      {"price_cached_input", price(&models::TokenPrice::cachedInput)},
      {"price_output", price(&models::TokenPrice::output)},
      {"max_output", count(&Endpoint::maxOutput)},
      {"max_context", count(&Endpoint::maxContext)},
      {"concurrency", count(&Endpoint::concurrency)},
      {"calls_per_minute", count(&Endpoint::callsAMinute)},
      {"tokens_per_minute", count(&Endpoint::tokensAMinute)},
      {"temperature",
       [](Endpoint& endpoint, const toml::node& node) {
         endpoint.temperature = amount(node);
         return endpoint.temperature.has_value();
       }},
      {"timeout_first_byte", timeout(&models::EndpointTimeouts::firstByte)},
      {"timeout_idle", timeout(&models::EndpointTimeouts::idle)},
      {"timeout_total", timeout(&models::EndpointTimeouts::total)},
      {"no_system", quirk(&models::EndpointQuirks::noSystem)},
      {"no_temperature", quirk(&models::EndpointQuirks::noTemperature)},
      {"max_completion_tokens", quirk(&models::EndpointQuirks::maxCompletionTokens)},
      {"no_stream_options", quirk(&models::EndpointQuirks::noStreamOptions)},
      {"allow_plain", [](Endpoint& endpoint, const toml::node& node) { return takeFlag(endpoint.allowPlain, node); }},
      {"headers", takeHeaders}};
  return all;
}

Result<Endpoint> readEndpoint(std::string_view name, const toml::table& table, const fs::path& file) {
  Endpoint endpoint;
  endpoint.name = name;
  for (const auto& [member, node] : table) {
    const auto found = std::find_if(members().begin(), members().end(),
                                    [&member = member](const Member& one) { return one.name == member.str(); });
    if (found == members().end()) {
      std::vector<std::string_view> known;
      for (const Member& one : members()) {
        known.push_back(one.name);
      }
      const bool isKey = member.str() == "key" || member.str() == "api_key";
      return wrong(file, name, fmt::format("there is no '{}'", member.str()),
                   isKey ? "a key has no place in a file of settings; say where it is, with `key_env`, `key_command`, "
                           "`key_file` or `key_keychain`"
                         : didYouMean(member.str(), known));
    }
    if (!found->take(endpoint, node)) {
      return wrong(file, name, fmt::format("'{}' has a value that it cannot have", member.str()));
    }
  }
  if (const Result<> fits = models::checkEndpoint(endpoint); !fits) {
    return Error(ErrorKind::Config, fmt::format("{} (in '{}')", fits.error().message(), file.string()),
                 fits.error().hint());
  }
  return endpoint;
}

Result<std::vector<Endpoint>> endpointsIn(std::string_view content, const fs::path& file) {
  toml::table root;
  try {
    root = toml::parse(content);
  } catch (const toml::parse_error& error) {
    return Error(ErrorKind::Config, fmt::format("cannot read '{}': line {}: {}", file.string(),
                                                error.source().begin.line, error.description()));
  }
  std::vector<std::pair<toml::source_index, Endpoint>> found;
  const toml::node* section = root.get(kSection);
  if (section == nullptr) {
    return std::vector<Endpoint>();
  }
  if (!section->is_table()) {
    return Error(ErrorKind::Config,
                 fmt::format("'{}' in '{}' has to be tables such as [models.fast]", kSection, file.string()));
  }
  for (const auto& [name, node] : *section->as_table()) {
    const toml::table* table = node.as_table();
    if (table == nullptr) {
      return wrong(file, name.str(), "it has to be a table, [models." + std::string(name.str()) + "]");
    }
    SWAGE_TRY_ASSIGN(Endpoint endpoint, readEndpoint(name.str(), *table, file));
    found.emplace_back(table->source().begin.line, std::move(endpoint));
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Endpoint> endpoints;
  for (auto& [line, endpoint] : found) {
    endpoints.push_back(std::move(endpoint));
  }
  return endpoints;
}

// Empty where there is no file.
Result<std::string> contentOf(const fs::path& file) {
  std::error_code ignored;
  return fs::exists(file, ignored) ? readTextFile(file, kMaxBytes) : Result<std::string>(std::string());
}

std::string quoted(const std::string& value) {
  std::ostringstream out;
  out << toml::toml_formatter(toml::value(value),
                              toml::toml_formatter::default_flags & ~toml::format_flags::allow_literal_strings);
  return out.str();
}

std::string tableName(std::string_view name) {
  const bool isBare = name.find_first_of("./") == std::string_view::npos;
  return isBare ? fmt::format("models.{}", name) : fmt::format("models.\"{}\"", name);
}

std::string keyMember(KeySource::From from) {
  switch (from) {
    case KeySource::From::Command: return "key_command";
    case KeySource::From::Environment: return "key_env";
    case KeySource::From::Keychain: return "key_keychain";
    case KeySource::From::File: return "key_file";
    case KeySource::From::Nowhere: break;
  }
  return {};
}

// What differs from the standard.
void addNumbers(const Endpoint& endpoint, std::string& table) {
  const Endpoint standard;
  const auto number = [&table](const char* name, int value, int usual) {
    table += value == usual ? std::string() : fmt::format("{} = {}\n", name, value);
  };
  const auto duration = [&table](const char* name, std::chrono::milliseconds value, std::chrono::milliseconds usual) {
    constexpr double kMs = 1000.0;
    table += value == usual ? std::string()
                            : fmt::format("{} = \"{:g} s\"\n", name, static_cast<double>(value.count()) / kMs);
  };
  number("max_output", endpoint.maxOutput, standard.maxOutput);
  number("max_context", endpoint.maxContext, standard.maxContext);
  number("concurrency", endpoint.concurrency, standard.concurrency);
  number("calls_per_minute", endpoint.callsAMinute.value_or(0), 0);
  number("tokens_per_minute", endpoint.tokensAMinute.value_or(0), 0);
  duration("timeout_first_byte", endpoint.timeouts.firstByte, standard.timeouts.firstByte);
  duration("timeout_idle", endpoint.timeouts.idle, standard.timeouts.idle);
  duration("timeout_total", endpoint.timeouts.total, standard.timeouts.total);
  if (endpoint.temperature) {
    table += fmt::format("temperature = {}\n", *endpoint.temperature);
  }
}

void addFlags(const Endpoint& endpoint, std::string& table) {
  const auto flag = [&table](const char* name, bool value) {
    table += value ? fmt::format("{} = true\n", name) : std::string();
  };
  flag("no_system", endpoint.quirks.noSystem);
  flag("no_temperature", endpoint.quirks.noTemperature);
  flag("max_completion_tokens", endpoint.quirks.maxCompletionTokens);
  flag("no_stream_options", endpoint.quirks.noStreamOptions);
  flag("allow_plain", endpoint.allowPlain);
}

std::string tableOf(const Endpoint& endpoint) {
  std::string table = fmt::format("[{}]\nkind = \"{}\"\nbase_url = {}\n", tableName(endpoint.name),
                                  models::name(endpoint.kind), quoted(endpoint.baseUrl));
  if (!endpoint.model.empty()) {
    table += "model = " + quoted(endpoint.model) + "\n";
  }
  if (endpoint.key.from != KeySource::From::Nowhere) {
    table += keyMember(endpoint.key.from) + " = " + quoted(endpoint.key.where) + "\n";
  }
  if (endpoint.price) {
    table += fmt::format("price_input = {}\nprice_cached_input = {}\nprice_output = {}\n", endpoint.price->input,
                         endpoint.price->cachedInput, endpoint.price->output);
  }
  addNumbers(endpoint, table);
  addFlags(endpoint, table);
  if (!endpoint.headers.empty()) {
    table += fmt::format("\n[{}.headers]\n", tableName(endpoint.name));
    for (const auto& [name, value] : endpoint.headers) {
      table += fmt::format("{} = {}\n", quoted(name), quoted(value));
    }
  }
  return table;
}

// Without the table of this name and those below it.
std::string withoutTable(const std::string& content, std::string_view name) {
  const std::vector<std::string> heads{fmt::format("[models.{}", name), fmt::format("[models.\"{}\"", name)};
  std::string kept;
  bool isInside = false;
  std::istringstream lines(content);
  for (std::string line; std::getline(lines, line);) {
    const std::string_view trimmed =
        std::string_view(line).substr(std::min(line.find_first_not_of(" \t"), line.size()));
    if (trimmed.starts_with('[')) {
      isInside = std::any_of(heads.begin(), heads.end(), [&trimmed](const std::string& head) {
        return trimmed.starts_with(head) &&
               (trimmed.substr(head.size()).starts_with(']') || trimmed.substr(head.size()).starts_with('.'));
      });
    }
    if (!isInside) {
      kept += line + "\n";
    }
  }
  return kept;
}

Result<> write(const fs::path& file, const std::string& content) {
  std::error_code failure;
  fs::create_directories(file.parent_path(), failure);
  if (failure) {
    return Error(ErrorKind::Io, fmt::format("cannot create '{}': {}", file.parent_path().string(), failure.message()));
  }
  return writeFileAtomically(file, withVersion(content));
}

}  // namespace

Result<std::vector<Endpoint>> readEndpoints(const fs::path& file) {
  SWAGE_TRY_ASSIGN(const std::string content, contentOf(file));
  return endpointsIn(content, file);
}

namespace {

// `content` with one more at its end.
Result<std::string> withEndpoint(std::string content, const Endpoint& endpoint, const fs::path& file) {
  SWAGE_TRY(models::checkEndpoint(endpoint));
  SWAGE_TRY_ASSIGN(std::vector<Endpoint> wanted, endpointsIn(content, file));
  for (const Endpoint& known : wanted) {
    if (known.name == endpoint.name) {
      return Error(ErrorKind::Config, fmt::format("there is a model '{}' already", endpoint.name),
                   fmt::format("`swage models remove {}` removes it", endpoint.name));
    }
  }
  content += content.empty() || content.ends_with("\n\n") ? "" : content.ends_with('\n') ? "\n" : "\n\n";
  content += tableOf(endpoint);
  wanted.push_back(endpoint);
  SWAGE_TRY_ASSIGN(const std::vector<Endpoint> written, endpointsIn(content, file));
  if (written != wanted) {
    return Error(ErrorKind::Config, fmt::format("'{}' cannot be added to '{}'", endpoint.name, file.string()),
                 "write the table into the file by hand");
  }
  return content;
}

// `content` without the one of that name.
Result<std::string> withoutEndpoint(const std::string& content, std::string_view name, const fs::path& file) {
  SWAGE_TRY_ASSIGN(std::vector<Endpoint> wanted, endpointsIn(content, file));
  if (std::erase_if(wanted, [name](const Endpoint& one) { return one.name == name; }) == 0) {
    return Error(ErrorKind::NotFound, fmt::format("there is no model '{}' in '{}'", name, file.string()),
                 "`swage models list` shows them");
  }
  std::string kept = withoutTable(content, name);
  const auto left = endpointsIn(kept, file);
  if (!left || *left != wanted) {
    return Error(ErrorKind::Config, fmt::format("'{}' cannot be removed from '{}'", name, file.string()),
                 "it is written in a way that is not understood here: remove it by hand");
  }
  return kept;
}

}  // namespace

Result<> addEndpoint(const fs::path& file, const Endpoint& endpoint) {
  SWAGE_TRY_ASSIGN(std::string content, contentOf(file));
  SWAGE_TRY_ASSIGN(const std::string more, withEndpoint(std::move(content), endpoint, file));
  return write(file, more);
}

Result<> removeEndpoint(const fs::path& file, std::string_view name) {
  SWAGE_TRY_ASSIGN(const std::string content, contentOf(file));
  SWAGE_TRY_ASSIGN(const std::string less, withoutEndpoint(content, name, file));
  return write(file, less);
}

Result<> replaceEndpoint(const fs::path& file, std::string_view name, const Endpoint& endpoint) {
  SWAGE_TRY_ASSIGN(const std::string content, contentOf(file));
  SWAGE_TRY_ASSIGN(std::string less, withoutEndpoint(content, name, file));
  SWAGE_TRY_ASSIGN(const std::string other, withEndpoint(std::move(less), endpoint, file));
  return write(file, other);
}

Result<std::vector<Endpoint>> chooseEndpoints(const std::vector<Endpoint>& all, const std::vector<std::string>& names) {
  std::vector<Endpoint> chosen;
  for (const std::string& name : names) {
    const std::size_t colon = name.find(':');
    const auto kind = colon == std::string::npos ? std::nullopt : models::parseEndpointKind(name.substr(0, colon));
    if (kind == models::EndpointKind::Replay || kind == models::EndpointKind::Exchange) {
      chosen.push_back({.name = std::string(models::name(*kind)), .kind = *kind, .baseUrl = name.substr(colon + 1)});
      SWAGE_TRY(models::checkEndpoint(chosen.back()));
      continue;
    }
    const auto found = std::find_if(all.begin(), all.end(), [&name](const Endpoint& one) { return one.name == name; });
    if (found == all.end()) {
      std::vector<std::string_view> known;
      for (const Endpoint& one : all) {
        known.push_back(one.name);
      }
      const auto closest = closestWord(name, known);
      return Error(ErrorKind::NotFound, fmt::format("there is no model '{}'", name),
                   (closest ? fmt::format("did you mean '{}'? ", *closest) : std::string()) +
                       "`swage models list` shows them, `swage models add` adds one");
    }
    chosen.push_back(*found);
  }
  return chosen;
}

}  // namespace swage::engine
