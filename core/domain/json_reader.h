// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/domain/json.h"

// Reading JSON that may be hostile, for the modules that give domain values a JSON form (domain, wire, store).
namespace swage::domain {

inline constexpr std::size_t kMaxJsonText = std::size_t{64} << 20U;
inline constexpr std::size_t kMaxJsonItems = 1'000'000;
inline constexpr std::size_t kMaxName = 4096;  // bytes of a name or a short text

// One JSON value with its path, for reading it with checks. Getters return a default after the first failure, which is
// kept in `failure` with the path of the member, so that a parser reads straight through and asks once, at its end.
// The Json and the failure must outlive the reader.
class JsonReader {
 public:
  JsonReader(const Json& json, std::string path, std::optional<Error>& failure)
      : m_json(&json), m_path(std::move(path)), m_failure(&failure) {}

  [[nodiscard]] const Json& json() const { return *m_json; }
  [[nodiscard]] const std::string& path() const { return m_path; }
  [[nodiscard]] bool hasFailed() const { return m_failure->has_value(); }
  void fail(std::string_view why) const;

  // A member that must be there; a missing one fails and reads as null.
  [[nodiscard]] JsonReader operator[](std::string_view member) const;
  // Present and not null.
  [[nodiscard]] bool has(std::string_view member) const;

  [[nodiscard]] std::int64_t integer(std::int64_t low = std::numeric_limits<std::int64_t>::min(),
                                     std::int64_t high = std::numeric_limits<std::int64_t>::max()) const;
  [[nodiscard]] int smallInteger(int low = std::numeric_limits<int>::min(),
                                 int high = std::numeric_limits<int>::max()) const;
  [[nodiscard]] std::uint64_t unsignedInteger() const;
  // Also {"float": "nan" | "inf" | "-inf"}.
  [[nodiscard]] double number() const;
  [[nodiscard]] bool boolean() const;
  [[nodiscard]] std::string text(std::size_t maxBytes = kMaxJsonText) const;
  // A binary value of MessagePack.
  [[nodiscard]] std::string binary() const;

  // The result of `parse`, which takes a text and returns an optional.
  template <class Parse>
  [[nodiscard]] auto word(Parse parse) const {
    const std::string value = text();
    const auto parsed = parse(std::string_view(value));
    if (!parsed && !hasFailed()) {
      fail("must not be '" + value.substr(0, 64) + "'");
    }
    return parsed.value_or(typename decltype(parsed)::value_type{});
  }

  // Calls `read` with a reader for each item.
  template <class Read>
  [[nodiscard]] auto list(Read read, std::size_t maxItems = kMaxJsonItems) const {
    std::vector<decltype(read(*this))> items;
    if (!isArrayOfAtMost(maxItems)) {
      return items;
    }
    items.reserve(m_json->size());
    for (std::size_t i = 0; i < m_json->size() && !hasFailed(); ++i) {
      items.push_back(read(item(i)));
    }
    return items;
  }

  // Calls `read` with the name and a reader for each member, in the order of names.
  template <class Read>
  void eachMember(Read read, std::size_t maxItems = kMaxJsonItems) const {
    if (!isObjectOfAtMost(maxItems)) {
      return;
    }
    for (auto it = m_json->begin(); it != m_json->end() && !hasFailed(); ++it) {
      read(it.key(), (*this)[it.key()]);
    }
  }

 private:
  [[nodiscard]] bool isArrayOfAtMost(std::size_t maxItems) const;
  [[nodiscard]] bool isObjectOfAtMost(std::size_t maxItems) const;
  [[nodiscard]] JsonReader item(std::size_t index) const;

  const Json* m_json;
  std::string m_path;
  std::optional<Error>* m_failure;
};

// Reads `json` with `read`, which takes a JsonReader; the first failure is the result's error.
template <class Read>
[[nodiscard]] auto readJson(const Json& json, std::string path, Read read)
    -> Result<decltype(read(std::declval<const JsonReader&>()))> {
  std::optional<Error> failure;
  auto value = read(JsonReader(json, std::move(path), failure));
  if (failure) {
    return std::move(*failure);
  }
  return value;
}

// A number, or {"float": …} for the values that JSON has no number for.
[[nodiscard]] Json numberToJson(double value);

// MessagePack to JSON, with the limits of parseJson.
[[nodiscard]] Result<Json> parseMessagePack(std::string_view bytes);

// Pieces of the JSON forms that other forms contain.
[[nodiscard]] TensorType readTensorType(const JsonReader& reader);
[[nodiscard]] ValueId readValueId(const JsonReader& reader);  // -1 is the invalid id
[[nodiscard]] Node readNode(const JsonReader& reader);
[[nodiscard]] Graph readGraph(const JsonReader& reader);
[[nodiscard]] Task readTask(const JsonReader& reader);
[[nodiscard]] Genome readGenome(const JsonReader& reader);
[[nodiscard]] LaunchPlan readLaunchPlan(const JsonReader& reader);
[[nodiscard]] Program readProgram(const JsonReader& reader);
[[nodiscard]] ProgramLines readProgramLines(const JsonReader& reader);
[[nodiscard]] KernelFacts readKernelFacts(const JsonReader& reader);
[[nodiscard]] DeviceInfo readDeviceInfo(const JsonReader& reader);
[[nodiscard]] DeviceConditions readDeviceConditions(const JsonReader& reader);
[[nodiscard]] Timing readTiming(const JsonReader& reader);
[[nodiscard]] PairedTiming readPairedTiming(const JsonReader& reader);
[[nodiscard]] OutputError readOutputError(const JsonReader& reader);
[[nodiscard]] Evaluation readEvaluation(const JsonReader& reader);
[[nodiscard]] Baseline readBaseline(const JsonReader& reader);
[[nodiscard]] Assurance readAssurance(const JsonReader& reader);
[[nodiscard]] Profile readProfile(const JsonReader& reader);
[[nodiscard]] Json toJson(const Node& node);
[[nodiscard]] Json toJson(const OutputError& error);
[[nodiscard]] std::string_view name(CompileFailureReason reason);
[[nodiscard]] std::optional<CompileFailureReason> parseCompileFailureReason(std::string_view text);

}  // namespace swage::domain
