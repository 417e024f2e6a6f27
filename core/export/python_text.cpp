// SPDX-License-Identifier: Apache-2.0
#include "core/export/python_text.h"

#include <openssl/evp.h>
#include <zlib.h>

#include <cmath>
#include <regex>
#include <type_traits>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace swage::exporting {

namespace {

std::string joined(const std::vector<std::string>& parts) {
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string tupleOf(const std::vector<std::string>& parts) {
  return parts.size() == 1 ? fmt::format("({},)", parts.front()) : fmt::format("({})", joined(parts));
}

std::string base64(std::string_view bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');
  const int length =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                      reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(length));
  return text;
}

struct ArgumentText {
  std::string operator()(std::monostate) const { return "None"; }
  std::string operator()(domain::ValueId id) const { return fmt::format("v{}", id.value()); }
  std::string operator()(bool value) const { return value ? "True" : "False"; }
  std::string operator()(std::int64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return pythonFloat(value); }
  std::string operator()(const std::string& value) const { return pythonString(value); }
  std::string operator()(domain::ScalarType value) const { return pythonDtype(value); }
  std::string operator()(domain::DeviceArgument) const { return "device"; }
  std::string operator()(const domain::LayoutArgument& value) const { return "torch." + value.layout; }
  std::string operator()(const domain::MemoryFormatArgument& value) const { return "torch." + value.format; }
  std::string operator()(const domain::ArgumentList& values) const {
    std::vector<std::string> parts;
    for (const domain::Argument& value : values) {
      parts.push_back(pythonArgument(value));
    }
    return fmt::format("[{}]", joined(parts));
  }
};

}  // namespace

std::string pythonString(std::string_view text) {
  // Every escape that JSON writes when it leaves UTF-8 alone means the same in Python.
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string pythonFloat(double value) {
  if (std::isnan(value)) {
    return "float(\"nan\")";
  }
  if (std::isinf(value)) {
    return value > 0 ? "float(\"inf\")" : "float(\"-inf\")";
  }
  std::string text = fmt::format("{}", value);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

std::string pythonTuple(const std::vector<std::int64_t>& values) {
  std::vector<std::string> parts;
  parts.reserve(values.size());
  for (const std::int64_t value : values) {
    parts.push_back(std::to_string(value));
  }
  return tupleOf(parts);
}

std::string pythonDtype(domain::ScalarType type) {
  return fmt::format("torch.{}", domain::name(type));
}

std::string pythonArgument(const domain::Argument& argument) {
  return std::visit(ArgumentText{}, argument.value);
}

std::string pythonLiteral(const nlohmann::json& json) {
  if (json.is_null()) {
    return "None";
  }
  if (json.is_boolean()) {
    return json.get<bool>() ? "True" : "False";
  }
  if (json.is_number_float()) {
    return pythonFloat(json.get<double>());
  }
  if (json.is_string()) {
    return pythonString(json.get_ref<const std::string&>());
  }
  std::vector<std::string> parts;
  if (json.is_object() && json.size() == 1 && json.contains("tuple") && json["tuple"].is_array()) {
    for (const nlohmann::json& item : json["tuple"]) {
      parts.push_back(pythonLiteral(item));
    }
    return tupleOf(parts);
  }
  if (json.is_object()) {
    for (const auto& [key, item] : json.items()) {
      parts.push_back(fmt::format("{}: {}", pythonString(key), pythonLiteral(item)));
    }
    return fmt::format("{{{}}}", joined(parts));
  }
  if (json.is_array()) {
    for (const nlohmann::json& item : json) {
      parts.push_back(pythonLiteral(item));
    }
    return fmt::format("[{}]", joined(parts));
  }
  return json.dump();
}

bool isDottedName(std::string_view text) {
  static const std::regex dotted(R"([A-Za-z_]\w*(\.[A-Za-z_]\w*)*)");
  return std::regex_match(text.begin(), text.end(), dotted);
}

std::string pythonBlock(std::string_view text) {
  const bool endsWell = text.empty() || (text.back() != '\\' && text.back() != '"' && text.back() != '\'');
  for (const std::string_view quotes : {R"(""")", "'''"}) {
    if (endsWell && text.find(quotes) == std::string_view::npos) {
      return fmt::format("r{}\n{}{}", quotes, text, quotes);
    }
  }
  return pythonString(text);
}

Result<std::string> packedText(std::string_view bytes, Packing packing) {
  std::string packed(bytes);
  if (packing == Packing::Zlib) {
    uLongf size = compressBound(static_cast<uLong>(bytes.size()));
    packed.resize(size);
    const int code = compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
                               reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uLong>(bytes.size()), 9);
    if (code != Z_OK) {
      return Error(ErrorKind::Internal,
                   fmt::format("cannot compress {} bytes for an export: zlib error {}", bytes.size(), code));
    }
    packed.resize(size);
  }
  return base64(packed);
}

Result<std::string> pythonBytes(std::string_view bytes, Packing packing) {
  SWAGE_TRY_ASSIGN(const std::string text, packedText(bytes, packing));
  std::string lines = "(\n";
  constexpr std::size_t kLine = 100;
  for (std::size_t at = 0; at < text.size(); at += kLine) {
    lines += fmt::format("    \"{}\"\n", text.substr(at, kLine));
  }
  return lines + (text.empty() ? "    \"\"\n)" : ")");
}

namespace {

const std::regex& checkedWords() {
  static const std::regex words(R"(\bpass\b|\btry\s*:|\bexcept\s*:|\bexcept\s+\w)");
  return words;
}

}  // namespace

bool hasCheckedWord(std::string_view text) {
  return std::regex_search(text.begin(), text.end(), checkedWords());
}

std::string withoutCheckedWords(std::string_view cppSource) {
  static const std::regex identifier(R"(\bpass\b)");
  return std::regex_replace(std::string(cppSource), identifier, "pass_");
}

std::string plainProse(std::string_view text) {
  std::string plain;
  for (const char character : text) {
    plain += character == '\\'                        ? '/'
             : character == '"'                       ? '\''
             : character == '\n' || character == '\r' ? ' '
                                                      : character;
  }
  static const std::regex words(R"(\b(pass|try|except)\b)");
  return std::regex_replace(plain, words, "$1_");
}

}  // namespace swage::exporting
