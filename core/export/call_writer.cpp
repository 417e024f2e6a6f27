// SPDX-License-Identifier: Apache-2.0
#include "core/export/call_writer.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "core/export/python_text.h"

namespace swage::exporting {
namespace {

class CallWriter {
 public:
  explicit CallWriter(const CallInput& input) : m_in(input) {}

  // From the bridge's description or, without one, flat.
  Result<CallText> run() {
    const nlohmann::json call =
        m_in.call.empty() ? nlohmann::json::object() : nlohmann::json::parse(m_in.call, nullptr, false);
    if (!call.is_object()) {
      return malformedPlan("the description of its call is not a JSON object");
    }
    SWAGE_TRY(writeArguments(call));
    SWAGE_TRY(writeNames(call));
    std::size_t results = m_in.userOutputs;
    m_text.result = m_in.userOutputs == 1 ? "outputs[0]" : "outputs";
    if (call.contains("result")) {
      results = 0;
      SWAGE_TRY_ASSIGN(m_text.result, tree(call["result"], Role::Result, results, 0));
    }
    if (results != m_in.userOutputs) {
      return malformedPlan(fmt::format("its call returns {} tensors, the graph {}", results, m_in.userOutputs));
    }
    return std::move(m_text);
  }

 private:
  Result<> writeArguments(const nlohmann::json& call) {
    std::size_t count = 0;
    if (call.contains("args") && !isFlat(call["args"])) {
      SWAGE_TRY_ASSIGN(const std::string pattern, tree(call["args"], Role::Pattern, count, 0));
      m_text.match = fmt::format(
          "        tensors = []\n        if not _swage_match({}, args, tensors):\n            return "
          "super().forward(*args)\n",
          pattern);
    } else {
      count = call.contains("args") ? call["args"]["tuple"].size() : m_in.userInputs;
      m_text.otherCount = fmt::format(" or len(args) != {}", count);
    }
    if (count != m_in.userInputs) {
      return malformedPlan(fmt::format("its call takes {} tensors, the graph {}", count, m_in.userInputs));
    }
    return {};
  }

  [[nodiscard]] static bool isFlat(const nlohmann::json& arguments) {
    return arguments.is_object() && arguments.contains("tuple") && arguments["tuple"].is_array() &&
           std::all_of(arguments["tuple"].begin(), arguments["tuple"].end(),
                       [](const nlohmann::json& item) { return item.is_object() && item.contains("tensor"); });
  }

  // The name under which the file imports a class, which a TREE gives as [module, name].
  Result<std::string> classOf(const nlohmann::json& type) {
    if (!type.is_array() || type.size() != 2 || !type[0].is_string() || !type[1].is_string()) {
      return malformedPlan("the description of its call has a class without module and name");
    }
    const auto module = type[0].get<std::string>();
    const auto name = type[1].get<std::string>();
    if (!isDottedName(module.empty() ? name : module) || !isDottedName(name) || name.find('.') != std::string::npos) {
      return malformedPlan("the description of its call has a class without a valid Python name");
    }
    const auto [found, isNew] = m_classes.emplace(type.dump(), fmt::format("_SwageClass{}", m_classes.size()));
    if (isNew) {
      m_text.classes += module.empty() ? fmt::format("{} = {}\n", found->second, name)
                                       : fmt::format("from {} import {} as {}\n", module, name, found->second);
    }
    return found->second;
  }

  // Names by which all arguments that a call lacks may be given, in any order.
  Result<> writeNames(const nlohmann::json& call) {
    const nlohmann::json names = call.value("names", nlohmann::json::array());
    if (!names.is_array() || names.empty()) {
      return {};
    }
    std::vector<std::string> quoted;
    for (const nlohmann::json& name : names) {
      if (!name.is_string() || !isDottedName(name.get<std::string>())) {
        return malformedPlan("the description of its call has an argument without a valid Python name");
      }
      quoted.push_back(pythonString(name.get<std::string>()));
    }
    m_text.names = fmt::format("_SWAGE_NAMES = ({}{})  # of forward's arguments\n", fmt::join(quoted, ", "),
                               quoted.size() == 1 ? "," : "");
    return {};
  }

  enum class Role : std::uint8_t { Pattern, Result };

  // Python text of a TREE of TASK_FORMAT.md; counts its tensors, which are numbered in order.
  Result<std::string> tree(const nlohmann::json& json, Role role, std::size_t& tensors, int depth) {
    constexpr int kDeepest = 32;
    constexpr const char* kType = "type";
    const bool hasClass = json.is_object() && json.contains(kType);
    if (!json.is_object() || json.size() != (hasClass ? 2U : 1U) || depth > kDeepest) {
      return malformedPlan("the description of its call has an unknown part");
    }
    const auto described = std::find_if(json.items().begin(), json.items().end(),
                                        [](const auto& member) { return member.key() != kType; });
    const std::string kind = (*described).key();
    const nlohmann::json& content = (*described).value();
    if (kind == "tensor") {
      return role == Role::Pattern ? (++tensors, std::string("_SwageTensor")) : fmt::format("outputs[{}]", tensors++);
    }
    if (kind == "constant") {
      return pythonLiteral(content);
    }
    std::vector<std::string> parts;
    for (const auto& [key, item] : content.items()) {
      SWAGE_TRY_ASSIGN(const std::string part, tree(item, role, tensors, depth + 1));
      parts.push_back(kind == "dict" ? fmt::format("{}: {}", pythonString(key), part) : part);
    }
    const std::string inner = fmt::format("{}", fmt::join(parts, ", "));
    if (hasClass && ((kind == "dict" && content.is_object()) || (kind == "tuple" && content.is_array()))) {
      SWAGE_TRY_ASSIGN(const std::string name, classOf(json[kType]));
      return kind == "dict" ? fmt::format("{}(**{{{}}})", name, inner) : fmt::format("{}({})", name, inner);
    }
    if (kind == "dict" && content.is_object()) {
      return fmt::format("{{{}}}", inner);
    }
    if (kind == "list" && content.is_array()) {
      return fmt::format("[{}]", inner);
    }
    if (kind == "tuple" && content.is_array()) {
      return fmt::format("({}{})", inner, parts.size() == 1 ? "," : "");
    }
    return malformedPlan(fmt::format("the description of its call has a part of unknown kind '{}'", kind));
  }

  CallInput m_in;
  CallText m_text;
  std::map<std::string, std::string> m_classes;  // by module and name
};

}  // namespace

Error malformedPlan(std::string_view what) {
  return Error(ErrorKind::InvalidInput, fmt::format("cannot export the launch plan: {}", what),
               "Verify the candidate again; its record may be damaged.");
}

Result<CallText> writeCall(const CallInput& input) {
  return CallWriter(input).run();
}

}  // namespace swage::exporting
