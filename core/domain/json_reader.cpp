// SPDX-License-Identifier: Apache-2.0
#include "core/domain/json_reader.h"

#include <cmath>

#include <fmt/format.h>

namespace swage::domain {
namespace {

const Json& nullJson() {
  static const Json value;
  return value;
}

}  // namespace

void JsonReader::fail(std::string_view why) const {
  if (!m_failure->has_value()) {
    m_failure->emplace(ErrorKind::InvalidInput, fmt::format("{} {}", m_path, why));
  }
}

JsonReader JsonReader::operator[](std::string_view member) const {
  std::string path = fmt::format("{}.{}", m_path, member.substr(0, 64));
  if (!m_json->is_object()) {
    fail("must be an object");
    return {nullJson(), std::move(path), *m_failure};
  }
  const auto found = m_json->find(member);
  if (found == m_json->end()) {
    fail(fmt::format("has no member '{}'", member.substr(0, 64)));
    return {nullJson(), std::move(path), *m_failure};
  }
  return {*found, std::move(path), *m_failure};
}

bool JsonReader::has(std::string_view member) const {
  if (!m_json->is_object()) {
    fail("must be an object");
    return false;
  }
  const auto found = m_json->find(member);
  return found != m_json->end() && !found->is_null();
}

std::int64_t JsonReader::integer(std::int64_t low, std::int64_t high) const {
  if (hasFailed()) {
    return 0;
  }
  const bool isTooLarge = m_json->is_number_unsigned() &&
                          m_json->get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()};
  const std::int64_t value = m_json->is_number_integer() && !isTooLarge ? m_json->get<std::int64_t>() : 0;
  if (!m_json->is_number_integer() || isTooLarge || value < low || value > high) {
    fail(fmt::format("must be an integer from {} to {}", low, high));
    return 0;
  }
  return value;
}

int JsonReader::smallInteger(int low, int high) const {
  return static_cast<int>(integer(low, high));
}

std::uint64_t JsonReader::unsignedInteger() const {
  if (m_json->is_number_unsigned()) {
    return m_json->get<std::uint64_t>();
  }
  return static_cast<std::uint64_t>(integer(0));
}

double JsonReader::number() const {
  if (m_json->is_number()) {
    return m_json->get<double>();
  }
  if (m_json->is_object() && m_json->size() == 1 && m_json->contains("float")) {
    const std::string value = (*this)["float"].text();
    if (value == "nan") {
      return std::numeric_limits<double>::quiet_NaN();
    }
    if (value == "inf" || value == "-inf") {
      return value == "inf" ? HUGE_VAL : -HUGE_VAL;
    }
  }
  fail("must be a number");
  return 0.0;
}

bool JsonReader::boolean() const {
  if (!m_json->is_boolean()) {
    fail("must be true or false");
    return false;
  }
  return m_json->get<bool>();
}

std::string JsonReader::text(std::size_t maxBytes) const {
  if (!m_json->is_string()) {
    fail("must be a text");
    return {};
  }
  const auto& value = m_json->get_ref<const std::string&>();
  if (value.size() > maxBytes) {
    fail(fmt::format("must not be longer than {} bytes", maxBytes));
    return {};
  }
  return value;
}

std::string JsonReader::binary() const {
  if (!m_json->is_binary()) {
    fail("must be binary");
    return {};
  }
  const auto& bytes = m_json->get_binary();
  return {bytes.begin(), bytes.end()};
}

bool JsonReader::isArrayOfAtMost(std::size_t maxItems) const {
  if (!m_json->is_array() || m_json->size() > maxItems) {
    fail(fmt::format("must be a list of at most {} items", maxItems));
    return false;
  }
  return true;
}

bool JsonReader::isObjectOfAtMost(std::size_t maxItems) const {
  if (!m_json->is_object() || m_json->size() > maxItems) {
    fail(fmt::format("must be an object of at most {} members", maxItems));
    return false;
  }
  return true;
}

JsonReader JsonReader::item(std::size_t index) const {
  return {(*m_json)[index], fmt::format("{}[{}]", m_path, index), *m_failure};
}

Json numberToJson(double value) {
  if (std::isfinite(value)) {
    return value;
  }
  return {{"float", std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf"}};
}

}  // namespace swage::domain
