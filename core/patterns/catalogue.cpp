// SPDX-License-Identifier: Apache-2.0
#include "core/patterns/catalogue.h"

#include <algorithm>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "core/base/files.h"

namespace swage::patterns {
namespace {

namespace fs = std::filesystem;

Error malformed(const fs::path& manifest, const toml::node& node, std::string_view what) {
  return Error(ErrorKind::InvalidInput,
               fmt::format("pattern manifest '{}', line {}: {}", manifest.string(), node.source().begin.line, what));
}

Result<Parameter> parseParameter(const fs::path& manifest, std::string_view name, const toml::node& node) {
  const toml::table* table = node.as_table();
  const toml::array* values = table != nullptr ? table->get_as<toml::array>("values") : nullptr;
  if (values == nullptr || values->empty()) {
    return malformed(manifest, node, fmt::format("parameter '{}' needs a list 'values'", name));
  }
  Parameter parameter;
  parameter.name = name;
  for (const toml::node& value : *values) {
    const std::optional<std::int64_t> number = value.value_exact<std::int64_t>();
    if (!number) {
      return malformed(manifest, value, fmt::format("the values of parameter '{}' must be integers", name));
    }
    parameter.values.push_back(*number);
  }
  if (!std::is_sorted(parameter.values.begin(), parameter.values.end())) {
    return malformed(manifest, *values, fmt::format("the values of parameter '{}' must ascend", name));
  }
  parameter.standard = (*table)["standard"].value_or(parameter.values.front());
  if (std::find(parameter.values.begin(), parameter.values.end(), parameter.standard) == parameter.values.end()) {
    return malformed(manifest, node, fmt::format("the standard of parameter '{}' is not among its values", name));
  }
  parameter.description = (*table)["description"].value_or(std::string());
  return parameter;
}

Result<> parseParameters(const fs::path& manifest, const toml::table& root, Pattern& pattern) {
  const toml::table* parameters = root.get_as<toml::table>("parameters");
  if (parameters == nullptr) {
    return {};
  }
  for (const auto& [key, node] : *parameters) {
    SWAGE_TRY_ASSIGN(Parameter parameter, parseParameter(manifest, key.str(), node));
    pattern.parameters.push_back(std::move(parameter));
  }
  return {};
}

Result<toml::table> readManifest(const fs::path& manifest) {
  SWAGE_TRY_ASSIGN(const std::string text, readTextFile(manifest, std::size_t{1} << 20U));
  try {
    return toml::parse(text, manifest.string());
  } catch (const toml::parse_error& error) {
    return Error(ErrorKind::InvalidInput, fmt::format("pattern manifest '{}', line {}: {}", manifest.string(),
                                                      error.source().begin.line, error.description()));
  }
}

Result<Pattern> loadPattern(const fs::path& folder, domain::Language language) {
  const fs::path manifest = folder / "pattern.toml";
  SWAGE_TRY_ASSIGN(const toml::table root, readManifest(manifest));
  Pattern pattern;
  pattern.id = folder.filename().string();
  pattern.language = language;
  pattern.family = root["family"].value_or(std::string());
  pattern.description = root["description"].value_or(std::string());
  if (pattern.family.empty()) {
    return malformed(manifest, root, "'family' is required");
  }
  SWAGE_TRY(parseParameters(manifest, root, pattern));
  if (const toml::table* facts = root.get_as<toml::table>("facts")) {
    for (const auto& [key, node] : *facts) {
      pattern.facts[std::string(key.str())] = node.value_or(std::string());
    }
  }
  return pattern;
}

// The header of that name; empty where there is none.
Result<std::string> loadHeader(const fs::path& folder, const domain::LanguageFacts& facts, std::string_view name) {
  const fs::path file = folder / fmt::format("{}{}", name, facts.headerSuffix);
  std::error_code ignored;
  return fs::exists(file, ignored) ? readTextFile(file) : Result<std::string>(std::string());
}

Result<std::vector<fs::path>> subfolders(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->is_directory(error) && fs::exists(entry->path() / "pattern.toml", error)) {
      found.push_back(entry->path());
    }
  }
  if (error) {
    return Error(ErrorKind::Environment,
                 fmt::format("cannot list patterns in '{}': {}", folder.string(), error.message()));
  }
  std::sort(found.begin(), found.end());  // the catalogue order decides what a seed means
  return found;
}

}  // namespace

const Parameter* Pattern::parameter(std::string_view name) const {
  const auto found =
      std::find_if(parameters.begin(), parameters.end(), [&](const Parameter& entry) { return entry.name == name; });
  return found == parameters.end() ? nullptr : &*found;
}

Result<Catalogue> Catalogue::load(const std::filesystem::path& root) {
  Catalogue catalogue;
  for (const domain::LanguageFacts& facts : domain::languages()) {
    const fs::path folder = root / facts.patternFolder;
    if (facts.patternFolder.empty()) {
      continue;  // no pattern is written in it
    }
    SWAGE_TRY_ASSIGN(const std::vector<fs::path> folders, subfolders(folder));
    SWAGE_TRY_ASSIGN(catalogue.m_helpers[facts.language], loadHeader(folder, facts, "helpers"));
    for (const fs::path& entry : folders) {
      SWAGE_TRY_ASSIGN(Pattern pattern, loadPattern(entry, facts.language));
      catalogue.m_patterns.push_back(std::move(pattern));
    }
  }
  return catalogue;
}

const Pattern* Catalogue::find(domain::Language language, std::string_view id) const {
  const auto found = std::find_if(m_patterns.begin(), m_patterns.end(), [&](const Pattern& pattern) {
    return pattern.language == language && pattern.id == id;
  });
  return found == m_patterns.end() ? nullptr : &*found;
}

const std::string& Catalogue::helpers(domain::Language language) const {
  static const std::string kNone;
  const auto found = m_helpers.find(language);
  return found == m_helpers.end() ? kNone : found->second;
}

}  // namespace swage::patterns
