// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <vector>

#include <fmt/format.h>

#include "core/domain/json_reader.h"

// The library's own readers have no depth limit, and the one for MessagePack recurses: a frame of a million opening
// brackets would overflow the stack. This builder ends the parse at a depth and at a number of values.
namespace swage::domain {
namespace {

constexpr std::size_t kMaxDepth = 64;
constexpr std::size_t kMaxValues = std::size_t{8} << 20U;

// NOLINTNEXTLINE(bugprone-exception-escape): an implicit destructor over containers
class TreeBuilder final : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t& value) override { return add(std::move(value)); }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_array() override { return close(); }
  bool key(string_t& value) override {
    m_key = std::move(value);
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& error) override {
    // Without the library's own "[json.exception…]" prefix.
    const std::string_view text = error.what();
    const std::size_t prefixEnd = text.find("] ");
    m_problem =
        fmt::format("byte {}: {}", position, prefixEnd == std::string_view::npos ? text : text.substr(prefixEnd + 2));
    return false;
  }

  [[nodiscard]] const std::string& problem() const { return m_problem; }
  [[nodiscard]] Json take() { return std::move(m_root); }

 private:
  bool add(Json value) { return append(std::move(value)) != nullptr; }

  bool open(Json value) {
    if (m_open.size() >= kMaxDepth) {
      m_problem = fmt::format("it is nested deeper than {} levels", kMaxDepth);
      return false;
    }
    Json* const added = append(std::move(value));
    m_open.push_back(added);
    return added != nullptr;
  }

  bool close() {
    m_open.pop_back();
    return true;
  }

  // A container only grows while nothing inside it is open, so pointers to open ones stay valid.
  Json* append(Json value) {
    if (++m_count > kMaxValues) {
      m_problem = fmt::format("it has more than {} values", kMaxValues);
      return nullptr;
    }
    if (m_open.empty()) {
      m_root = std::move(value);
      return &m_root;
    }
    Json& parent = *m_open.back();
    if (parent.is_array()) {
      parent.push_back(std::move(value));
      return &parent.back();
    }
    Json& slot = parent[m_key];
    slot = std::move(value);
    return &slot;
  }

  Json m_root;
  std::vector<Json*> m_open;
  std::string m_key;
  std::string m_problem;
  std::size_t m_count = 0;
};

Result<Json> parse(std::string_view bytes, Json::input_format_t format, std::string_view what) {
  try {
    TreeBuilder builder;
    const bool ok = Json::sax_parse(bytes.begin(), bytes.end(), &builder, format);
    if (ok && builder.problem().empty()) {
      return builder.take();
    }
    return Error(ErrorKind::InvalidInput, fmt::format("cannot read {}: {}", what, builder.problem()));
  } catch (const std::exception& error) {
    return Error(ErrorKind::InvalidInput, fmt::format("cannot read {}: {}", what, error.what()));
  }
}

}  // namespace

Result<Json> parseJson(std::string_view text) {
  return parse(text, Json::input_format_t::json, "JSON");
}

Result<Json> parseMessagePack(std::string_view bytes) {
  return parse(bytes, Json::input_format_t::msgpack, "MessagePack");
}

std::string dumpJson(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace swage::domain
