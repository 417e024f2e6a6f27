// SPDX-License-Identifier: Apache-2.0
#include "app/cli/keys_command.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/cli/models_command.h"
#include "app/cli/text.h"
#include "core/engine/model_endpoints.h"
#include "core/engine/settings_file.h"
#include "core/models/key_store.h"

namespace swage::cli {
namespace {

std::string_view originOf(const models::KeySource& key) {
  switch (key.from) {
    case models::KeySource::From::Command: return "command";
    case models::KeySource::From::Environment: return "environment";
    case models::KeySource::From::Keychain: return "keychain";
    case models::KeySource::From::File: return "file";
    case models::KeySource::From::Nowhere: break;
  }
  return "none";
}

// A command may have a key among its words.
domain::Json whereOf(const models::KeySource& key) {
  const bool isSaid = key.from != models::KeySource::From::Command && !key.where.empty();
  return isSaid ? domain::Json(key.where) : domain::Json();
}

domain::Json changeJson(const char* action, const std::string& name, const models::KeySource& place) {
  return {{action, name}, {"from", originOf(place)}, {"where", whereOf(place)}};
}

}  // namespace

Result<models::KeySource> placeFor(const models::Endpoint& endpoint, const KeysArguments& arguments) {
  using From = models::KeySource::From;
  if (!models::isHttp(endpoint.kind)) {
    return Error(ErrorKind::InvalidInput, fmt::format("'{}' needs no key: it is not reached over HTTP", endpoint.name));
  }
  models::KeySource place = endpoint.key;
  if (!arguments.file.empty()) {
    place = {From::File, std::filesystem::absolute(arguments.file).lexically_normal().string()};
  } else if (place.from != From::Keychain && (arguments.inKeychain || place.from == From::Nowhere)) {
    place = {From::Keychain, endpoint.name};
  }
  SWAGE_TRY(models::checkCanKeep(place));
  return place;
}

domain::Json toJson(const KeyState& state) {
  const models::KeySource& key = state.endpoint.key;
  domain::Json json{{"name", state.endpoint.name},
                    {"from", originOf(key)},
                    {"where", whereOf(key)},
                    {"there", !state.missing},
                    {"error", nullptr}};
  if (key.from == models::KeySource::From::Nowhere) {
    json["there"] = nullptr;
  }
  if (state.missing) {
    json["error"] = {{"message", state.missing->message()}, {"hint", state.missing->hint()}};
  }
  return json;
}

std::string keyTable(const std::vector<KeyState>& states) {
  std::vector<std::vector<std::string>> rows{{"model", "key", "there"}};
  for (const KeyState& state : states) {
    const bool needsNone = state.endpoint.key.from == models::KeySource::From::Nowhere;
    rows.push_back({state.endpoint.name, keyText(state.endpoint.key),
                    needsNone       ? "-"
                    : state.missing ? "no: " + state.missing->message()
                                    : "yes"});
  }
  return formatTable(rows);
}

void KeysCommand::start() {
  if (const Result<> begun = begin(); !begun) {
    fail(begun.error());
  }
}

Result<> KeysCommand::begin() {
  SWAGE_TRY_ASSIGN(m_endpoints, engine::readEndpoints(engine::configFile()));
  m_ring = models::KeyRing(m_endpoints);
  switch (m_arguments.action) {
    case KeysArguments::Action::List: lookForNext(); return {};
    case KeysArguments::Action::Set: return beginSet();
    case KeysArguments::Action::Remove: break;
  }
  return beginRemove();
}

// One after the other: each may ask a person for a password.
void KeysCommand::lookForNext() {
  if (m_states.size() == m_endpoints.size()) {
    list();
    return;
  }
  const models::Endpoint& next = m_endpoints[m_states.size()];
  m_ring.fetch(next.key, this, [this, &next](const Result<models::Secret>& key) {
    m_states.push_back({next, key ? std::nullopt : std::optional(key.error())});
    lookForNext();
  });
}

void KeysCommand::list() {
  if (form() == OutputForm::Text) {
    print(m_states.empty() ? "no models; `swage models add` adds one\n" : keyTable(m_states));
  }
  domain::Json all = domain::Json::array();
  for (const KeyState& state : m_states) {
    if (form() == OutputForm::JsonLines) {
      printJson(toJson(state));
    }
    all.push_back(toJson(state));
  }
  if (form() == OutputForm::Json) {
    printJson({{"keys", std::move(all)}});
  }
  Q_EMIT done(wire::ExitCode::Ok);
}

Result<models::Endpoint> KeysCommand::named() const {
  const auto found = std::find_if(m_endpoints.begin(), m_endpoints.end(),
                                  [this](const models::Endpoint& one) { return one.name == m_arguments.name; });
  if (found != m_endpoints.end()) {
    return *found;
  }
  SWAGE_TRY(engine::chooseEndpoints(m_endpoints, {m_arguments.name}));  // names the nearest one
  return Error(ErrorKind::InvalidInput,
               fmt::format("'{}' is no model of your settings, and needs no key", m_arguments.name));
}

Result<> KeysCommand::beginSet() {
  SWAGE_TRY_ASSIGN(m_endpoint, named());
  SWAGE_TRY_ASSIGN(m_place, placeFor(m_endpoint, m_arguments));
  m_input = std::make_unique<HiddenInput>(fmt::format("key of '{}': ", m_endpoint.name),
                                          [this](const Result<std::string>& line) { keep(line); });
  return {};
}

void KeysCommand::keep(const Result<std::string>& line) {
  if (!line) {
    fail(line.error());
    return;
  }
  const Result<models::Secret> key = models::keyIn(*line, "standard input");
  if (!key) {
    fail(Error(ErrorKind::InvalidInput, key.error().message(), key.error().hint()));
    return;
  }
  models::keepKey(m_place, *key, this, [this](const Result<>& kept) { handleKept(kept); });
}

void KeysCommand::handleKept(const Result<>& kept) {
  if (!kept) {
    fail(kept.error());
    return;
  }
  if (m_place != m_endpoint.key) {
    m_endpoint.key = m_place;
    if (const Result<> changed = engine::replaceEndpoint(engine::configFile(), m_endpoint.name, m_endpoint); !changed) {
      fail(changed.error());
      return;
    }
  }
  if (form() == OutputForm::Text) {
    print(fmt::format("the key of '{}' is stored ({})\n", m_endpoint.name, keyText(m_place)));
  } else {
    printJson(changeJson("set", m_endpoint.name, m_place));
  }
  Q_EMIT done(wire::ExitCode::Ok);
}

Result<> KeysCommand::beginRemove() {
  SWAGE_TRY_ASSIGN(m_endpoint, named());
  m_place = m_endpoint.key;
  SWAGE_TRY(models::checkCanKeep(m_place));
  models::removeKey(m_place, this, [this](const Result<>& removed) { handleRemoved(removed); });
  return {};
}

void KeysCommand::handleRemoved(const Result<>& removed) {
  if (!removed) {
    fail(removed.error());
    return;
  }
  std::vector<std::string> others;
  for (const models::Endpoint& one : m_endpoints) {
    if (one.key == m_place && one.name != m_endpoint.name) {
      others.push_back(one.name);
    }
  }
  if (form() == OutputForm::Text) {
    print(fmt::format("the key of '{}' is removed ({})\n", m_endpoint.name, keyText(m_place)));
    print(others.empty() ? std::string() : fmt::format("it was also the key of {}\n", fmt::join(others, ", ")));
  } else {
    domain::Json json = changeJson("removed", m_endpoint.name, m_place);
    json["also_of"] = others;
    printJson(json);
  }
  Q_EMIT done(wire::ExitCode::Ok);
}

}  // namespace swage::cli
