// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/domain/language.h"

namespace swage::patterns {

// One tunable number of a pattern.
struct Parameter {
  std::string name;                  // "vector_width"
  std::vector<std::int64_t> values;  // in ascending order of size; local search steps along them
  std::int64_t standard = 0;         // to begin with
  std::string description;
};

// One parametrised kernel: `patterns/<folder of the language>/<id>/pattern.toml`. The strategy of this name writes it
// (core/synth/strategy.h).
struct Pattern {
  std::string id;  // folder name
  domain::Language language = domain::Language::Cpp;
  std::string family;  // "pointwise", "reduction", …: what kind of region it computes
  std::string description;
  std::vector<Parameter> parameters;
  std::map<std::string, std::string> facts;  // free-form strings of the manifest: "movement" = "A2"

  [[nodiscard]] const Parameter* parameter(std::string_view name) const;
};

// All patterns found under a root folder. Loading fails on the first malformed manifest, naming file and line.
class Catalogue {
 public:
  [[nodiscard]] static Result<Catalogue> load(const std::filesystem::path& root);

  [[nodiscard]] const std::vector<Pattern>& all() const { return m_patterns; }
  [[nodiscard]] const Pattern* find(domain::Language language, std::string_view id) const;
  // Functions of which a program gets those that it uses (helpers.* in its folder).
  [[nodiscard]] const std::string& helpers(domain::Language language) const;

 private:
  std::vector<Pattern> m_patterns;
  std::map<domain::Language, std::string> m_helpers;
};

}  // namespace swage::patterns
