// SPDX-License-Identifier: Apache-2.0
#include "core/domain/source_parameters.h"

#include <cctype>
#include <charconv>
#include <optional>
#include <string>

namespace swage::domain {
namespace {

// As the synthesizer writes it: "vector_bits" is kVectorBits.
std::string constantName(std::string_view parameter) {
  std::string name = "k";
  bool isUpper = true;
  for (const char c : parameter) {
    if (c == '_') {
      isUpper = true;
      continue;
    }
    name += isUpper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    isUpper = false;
  }
  return name;
}

std::string_view regionText(std::string_view source, std::size_t index) {
  const std::string space = "namespace region_" + std::to_string(index);
  const std::size_t begin = source.find(space + " {");
  if (begin == std::string_view::npos) {
    return {};
  }
  const std::string_view rest = source.substr(begin);
  return rest.substr(0, rest.find("}  // " + space));
}

// The number behind " kLanes = "; no value: it is none, or more than a number.
std::optional<std::int64_t> constantIn(std::string_view text, const std::string& name) {
  const std::string declaration = "constexpr int " + name + " = ";
  const std::size_t at = text.find(declaration);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  text.remove_prefix(at + declaration.size());
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool isWhole = error == std::errc{} && end != text.data() + text.size() && *end == ';';
  return isWhole ? std::optional(value) : std::nullopt;
}

}  // namespace

Genome withSourceParameters(Genome genome, std::string_view source) {
  for (std::size_t i = 0; i < genome.regions.size(); ++i) {
    const std::string_view text = regionText(source, i);
    for (auto& [name, value] : genome.regions[i].parameters) {
      value = constantIn(text, constantName(name)).value_or(value);
    }
  }
  return genome;
}

std::optional<Genome> withSourceParameters(std::optional<Genome> genome, std::string_view source) {
  return genome ? std::optional(withSourceParameters(*std::move(genome), source)) : std::nullopt;
}

}  // namespace swage::domain
