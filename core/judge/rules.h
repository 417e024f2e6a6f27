// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/domain/advice.h"
#include "core/domain/candidate.h"
#include "core/domain/device_kind.h"
#include "core/judge/rule_expression.h"

namespace swage::judge {

// What a pair of coder and judge looks after.
enum class Role : std::uint8_t { Fusion, Memory, Parameters, Arithmetic };
inline constexpr int kRoleCount = 4;
[[nodiscard]] std::string_view name(Role role);
[[nodiscard]] std::optional<Role> parseRole(std::string_view text);

// What the built-in coder does about an advice: how often which operator, and which way parameters go.
struct Steering {
  std::map<domain::OperatorKind, double> operators;  // weights, more than 0
  std::map<std::string, int> parameters;             // by name: 1 larger, -1 smaller
  std::map<std::string, double> patterns;            // weights by id, for a swap of patterns; others have 1
};

// One fact that an advice shows.
struct RuleEvidence {
  std::string fact;
  std::string title;  // in a person's words
  std::string unit;
};

// One rule of the judge. Texts may mention facts (Facts::fill); a rule of which a fact is missing says nothing.
struct Rule {
  std::string id;
  domain::AdvicePass pass = domain::AdvicePass::Optimisation;
  std::optional<domain::DeviceKind> device;  // no value: any
  Role role = Role::Parameters;
  std::string title;                 // what it looks for
  std::vector<RuleExpression> when;  // all of them hold
  std::vector<std::string> says;     // and the failure's message has one of these; empty: whatever it says
  std::string bottleneck;
  std::string method;
  std::string plan;
  std::optional<RuleExpression> gain;  // time before over time after
  std::vector<RuleEvidence> evidence;
  std::string source;  // where it comes from
  Steering steering;
  std::filesystem::path file;
  int line = 0;

  // It is about one kernel, and is asked of each.
  [[nodiscard]] bool isOfKernel() const;
};

// The rules of all files `*.toml` of some folders, in the order of folders, names and files. A rule with the id of an
// earlier one takes its place, so that a person can change what Swage brings; with `enabled = false` it only goes.
// How a file looks is said in resources/rules/README.md.
class RuleBook {
 public:
  // A folder that does not exist has none. Config, naming file and line: the first rule that cannot be read.
  [[nodiscard]] static Result<RuleBook> load(const std::vector<std::filesystem::path>& folders);
  // One file's text. `file` is only named.
  [[nodiscard]] Result<> add(std::string_view text, const std::filesystem::path& file);

  [[nodiscard]] const std::vector<Rule>& all() const { return m_rules; }
  // Null: there is none.
  [[nodiscard]] const Rule* find(std::string_view id) const;

 private:
  std::vector<Rule> m_rules;
};

}  // namespace swage::judge
