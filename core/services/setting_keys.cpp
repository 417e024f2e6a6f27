// SPDX-License-Identifier: Apache-2.0
#include "core/services/setting_keys.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "core/base/closest_word.h"
#include "core/base/duration.h"
#include "core/services/devices_service.h"

namespace swage::services {
namespace {

std::vector<SettingKey> makeKeys() {
  const auto text = [](const char* value) { return SettingValue(std::string(value)); };
  constexpr std::int64_t kMostPoints = 72;
  constexpr std::int64_t kMostTab = 16;
  return {
      {"general.restore_session",
       "open the windows of the last session at the next start, each with its project, run and candidate", true},
      {"general.notifications", "notify the desktop when a search ends or a GPU is lost", true},
      {"search.target", "where kernels run", text("auto"), {"auto", "cpu", "cuda"}},
      {.name = "search.time_budget", .meaning = "search time", .standard = text("60 s"), .isDuration = true},
      {.name = "search.devices",
       .meaning = "numbers or UUIDs of the GPUs to search on, as `swage devices` shows them; empty: the first",
       .standard = text(""),
       .isDeviceList = true},
      {.name = "search.sandbox",
       .meaning =
           "what keeps compilers from the rest of the machine; auto: bwrap, or landlock where it cannot be used; "
           "none: nothing, which is not safe",
       .standard = text("auto"),
       .choices = {"auto", "bwrap", "landlock", "none"},
       .variable = "SWAGE_SANDBOX"},
      {"search.seed",
       "the same seed proposes the same candidates, unless measured times differ; 0: a random one for each run",
       std::int64_t{0}},
      {"search.compile_baselines", "also measure torch.compile as a baseline", true},
      {"swarm.models",
       "names of the language models that take part in searches of the window, as `swage models list` shows them",
       text("")},
      {"swarm.by_hand", "a person answers prompts, too, in the window or in the folder `exchange` of the project",
       false},
      {"swarm.budget_cents", "the most that calls of models may cost in one search, in US cents; 0: no limit",
       std::int64_t{0}},
      {"swarm.budget_tokens", "the most tokens that calls of models may take in one search; 0: no limit",
       std::int64_t{0}},
      {"swarm.embeddings",
       "embedding model that ranks the results of a pattern search: its name in `swage models list`; empty: none",
       text("")},
      {"editor.font", "family of the font for code; empty: the desktop's", text("")},
      {.name = "editor.font_size",
       .meaning = "in points; 0: the desktop's",
       .standard = std::int64_t{0},
       .most = kMostPoints},
      {.name = "editor.tab_width",
       .meaning = "columns of a tab",
       .standard = std::int64_t{2},
       .least = 1,
       .most = kMostTab},
      {"editor.wrap_lines", "wrap long lines", false},
      {"editor.line_numbers", "show line numbers", true},
      {"editor.caret_line", "highlight the current line", true},
      {"theme.choice",
       "colours of the window; system follows the desktop",
       text("system"),
       {"system", "light", "dark"}},
      {"theme.color_map", "colours of the map of cells", text("viridis"), {"viridis", "cividis", "diverging"}},
      {.name = "locations.data",
       .meaning = "folder of projects; empty: $XDG_DATA_HOME/swage",
       .standard = text(""),
       .variable = "SWAGE_DATA_DIR"},
      {.name = "locations.python",
       .meaning = "Python with PyTorch; empty: the one Swage finds",
       .standard = text(""),
       .variable = "SWAGE_PYTHON"},
      {.name = "locations.cutlass",
       .meaning = "checkout of CUTLASS that `swage patterns search` looks into; empty: none",
       .standard = text(""),
       .variable = "SWAGE_CUTLASS"},
  };
}

Error unknown(std::string_view name) {
  std::vector<std::string_view> names;
  for (const SettingKey& key : settingKeys()) {
    names.push_back(key.name);
  }
  const auto closest = closestWord(name, names);
  return Error(ErrorKind::Config, fmt::format("there is no setting '{}'", name),
               closest ? fmt::format("did you mean '{}'?", *closest) : "`swage config list` shows all settings");
}

std::string_view typeName(const SettingValue& value) {
  return std::holds_alternative<bool>(value)           ? "true or false"
         : std::holds_alternative<std::int64_t>(value) ? "a whole number"
                                                       : "a text";
}

Error unfit(const SettingKey& key, std::string_view value, std::string_view wanted) {
  return Error(ErrorKind::Config, fmt::format("'{}' cannot be '{}'", key.name, value),
               fmt::format("it has to be {}, for example {}", wanted,
                           key.standard == SettingValue(std::string()) ? "\"\"" : settingText(key.standard)));
}

}  // namespace

std::span<const SettingKey> settingKeys() {
  static const std::vector<SettingKey> keys = makeKeys();
  return keys;
}

const SettingKey* findSettingKey(std::string_view name) {
  const auto keys = settingKeys();
  const auto found = std::find_if(keys.begin(), keys.end(), [name](const SettingKey& key) { return key.name == name; });
  return found == keys.end() ? nullptr : &*found;
}

bool isShortcutKey(std::string_view name) {
  return name.starts_with("shortcuts.");
}

Result<> checkSetting(std::string_view name, const SettingValue& value) {
  if (isShortcutKey(name) && std::holds_alternative<std::string>(value)) {
    return {};
  }
  const SettingKey* key = findSettingKey(name);
  if (key == nullptr) {
    return unknown(name);
  }
  const std::string text = settingText(value);
  if (value.index() != key->standard.index()) {
    return unfit(*key, text, typeName(key->standard));
  }
  if (const auto* number = std::get_if<std::int64_t>(&value); number != nullptr) {
    const bool hasMost = key->most < std::numeric_limits<int>::max();
    return *number >= key->least && *number <= key->most
               ? Result<>()
               : unfit(*key, text,
                       hasMost ? fmt::format("from {} to {}", key->least, key->most)
                               : fmt::format("at least {}", key->least));
  }
  if (!key->choices.empty() && std::find(key->choices.begin(), key->choices.end(), text) == key->choices.end()) {
    return Error(ErrorKind::Config, fmt::format("'{}' cannot be '{}'", key->name, text),
                 didYouMean(text, key->choices));
  }
  if (key->isDuration && !parseDuration(text)) {
    return unfit(*key, text, "a duration");
  }
  if (key->isDeviceList && !text.empty() && !parseDevices(text)) {
    return unfit(*key, text, "a list of GPUs such as 0,1");
  }
  return {};
}

Result<SettingValue> parseSetting(std::string_view name, std::string_view text) {
  const SettingKey* key = findSettingKey(name);
  if (key == nullptr && !isShortcutKey(name)) {
    return unknown(name);
  }
  SettingValue value = std::string(text);
  if (key != nullptr && std::holds_alternative<bool>(key->standard) && (text == "true" || text == "false")) {
    value = text == "true";
  } else if (key != nullptr && std::holds_alternative<std::int64_t>(key->standard)) {
    std::int64_t number = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (code == std::errc() && end == text.data() + text.size()) {
      value = number;
    }
  }
  SWAGE_TRY(checkSetting(name, value));
  return value;
}

std::string settingText(const SettingValue& value) {
  if (const auto* flag = std::get_if<bool>(&value)) {
    return *flag ? "true" : "false";
  }
  const auto* number = std::get_if<std::int64_t>(&value);
  return number != nullptr ? std::to_string(*number) : std::get<std::string>(value);
}

}  // namespace swage::services
