// SPDX-License-Identifier: Apache-2.0
#include "core/judge/rules.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "core/base/files.h"
#include "core/judge/case_facts.h"

namespace swage::judge {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLargestFile = std::size_t{1} << 20U;
constexpr std::size_t kMostEvidence = 4;

// Reads the table of one rule; the first mistake is kept, with its line.
class RuleReader {
 public:
  RuleReader(const fs::path& file, const toml::table& table) : m_file(file), m_table(table) {
    m_rule.file = file;
    m_rule.line = static_cast<int>(table.source().begin.line);
  }

  Result<Rule> read() {
    refuseUnknown(m_table, {"id", "enabled", "pass", "device", "role", "title", "when", "says", "bottleneck", "method",
                            "plan", "gain", "evidence", "source", "steer"});
    m_rule.id = required("id");
    readWords();
    readConditions();
    readEvidence();
    readSteering();
    return m_error ? Result<Rule>(std::move(*m_error)) : Result<Rule>(std::move(m_rule));
  }

 private:
  void fail(const toml::node& node, std::string_view what) {
    if (!m_error) {
      const auto line = node.source().begin.line;
      m_error = Error(ErrorKind::Config,
                      fmt::format("rules '{}', line {}: {}", m_file.string(),
                                  line > 0 ? static_cast<int>(line) : m_rule.line, what),
                      "resources/rules/README.md says what a rule looks like");
    }
  }
  void refuseUnknown(const toml::table& table, std::initializer_list<std::string_view> known) {
    for (const auto& [key, node] : table) {
      if (std::find(known.begin(), known.end(), key.str()) == known.end()) {
        fail(node, fmt::format("'{}' is not known", key.str()));
      }
    }
  }
  std::string text(std::string_view key) {
    const toml::node* node = m_table.get(key);
    if (node == nullptr) {
      return {};
    }
    const auto value = node->value_exact<std::string>();
    if (!value) {
      fail(*node, fmt::format("'{}' must be a text", key));
    }
    return value.value_or(std::string());
  }
  std::string required(std::string_view key) {
    std::string found = text(key);
    if (found.empty()) {
      fail(m_table, fmt::format("'{}' is required", key));
    }
    return found;
  }
  std::vector<std::string> texts(std::string_view key) {
    std::vector<std::string> found;
    const toml::node* node = m_table.get(key);
    const toml::array* list = node != nullptr ? node->as_array() : nullptr;
    if (node != nullptr && list == nullptr) {
      fail(*node, fmt::format("'{}' must be a list of texts", key));
    }
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
      const auto value = list->get(i)->value_exact<std::string>();
      if (!value) {
        fail(*list->get(i), fmt::format("'{}' must be a list of texts", key));
      }
      found.push_back(value.value_or(std::string()));
    }
    return found;
  }
  std::optional<RuleExpression> expression(const toml::node& node, const std::string& written) {
    Result<RuleExpression> parsed = RuleExpression::parse(written);
    if (!parsed) {
      fail(node, parsed.error().message());
      return std::nullopt;
    }
    return std::move(*parsed);
  }

  // A name that is misspelt would be a rule that never speaks.
  void checkFacts(std::string_view key, const std::vector<std::string>& names) {
    for (const std::string& one : names) {
      const auto known = factNames();
      if (std::find(known.begin(), known.end(), one) == known.end()) {
        const toml::node* node = m_table.get(key);
        fail(node != nullptr ? *node : m_table, fmt::format("there is no fact '{}'", one));
      }
    }
  }

  void readWords() {
    m_rule.title = required("title");
    m_rule.bottleneck = required("bottleneck");
    m_rule.method = required("method");
    m_rule.plan = text("plan");
    checkFacts("bottleneck", Facts::namesIn(m_rule.bottleneck));
    checkFacts("method", Facts::namesIn(m_rule.method));
    checkFacts("plan", Facts::namesIn(m_rule.plan));
    m_rule.source = required("source");
    const std::string pass = m_table.contains("pass") ? text("pass") : "optimisation";
    if (pass != "optimisation" && pass != "functional") {
      fail(*m_table.get("pass"), "'pass' must be optimisation or functional");
    }
    m_rule.pass = pass == "functional" ? domain::AdvicePass::Functional : domain::AdvicePass::Optimisation;
    if (const std::string device = text("device"); !device.empty()) {
      m_rule.device = domain::parseDeviceKind(device);
      if (!m_rule.device) {
        fail(*m_table.get("device"), fmt::format("there is no kind of device '{}'", device));
      }
    }
    const std::string role = required("role");
    if (const auto parsed = parseRole(role)) {
      m_rule.role = *parsed;
    } else if (!role.empty()) {
      fail(*m_table.get("role"), "'role' must be fusion, memory, parameters or arithmetic");
    }
  }
  void readConditions() {
    for (const std::string& written : texts("when")) {
      if (auto parsed = expression(*m_table.get("when"), written)) {
        checkFacts("when", parsed->names());
        m_rule.when.push_back(std::move(*parsed));
      }
    }
    m_rule.says = texts("says");
    if (m_rule.when.empty()) {
      fail(m_table, "'when' needs a condition");
    }
    if (const std::string gain = text("gain"); !gain.empty()) {
      m_rule.gain = expression(*m_table.get("gain"), gain);
      checkFacts("gain", m_rule.gain ? m_rule.gain->names() : std::vector<std::string>());
    }
  }
  void readEvidence() {
    const toml::node* node = m_table.get("evidence");
    const toml::array* list = node != nullptr ? node->as_array() : nullptr;
    if (node != nullptr && (list == nullptr || list->size() > kMostEvidence)) {
      fail(*node, fmt::format("'evidence' must be a list of at most {} tables", kMostEvidence));
      return;
    }
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
      const toml::table* one = list->get(i)->as_table();
      if (one == nullptr || !one->contains("fact")) {
        fail(*list->get(i), "evidence is a table with 'fact', 'title' and 'unit'");
        return;
      }
      refuseUnknown(*one, {"fact", "title", "unit"});
      const std::string fact = (*one)["fact"].value_or(std::string());
      checkFacts("evidence", {fact});
      m_rule.evidence.push_back({fact, (*one)["title"].value_or(fact), (*one)["unit"].value_or(std::string())});
    }
  }
  void readSteering() {
    const toml::node* node = m_table.get("steer");
    const toml::table* steer = node != nullptr ? node->as_table() : nullptr;
    if (node != nullptr && steer == nullptr) {
      fail(*node, "'steer' must be a table");
    }
    if (steer == nullptr) {
      return;
    }
    refuseUnknown(*steer, {"operators", "parameters", "patterns"});
    readWeights(*steer, "operators", [this](const toml::node& at, std::string_view key, double weight) {
      std::string spoken(key);
      std::replace(spoken.begin(), spoken.end(), '_', ' ');
      const auto kind = domain::parseOperatorKind(spoken);
      if (!kind) {
        fail(at, fmt::format("there is no operator '{}'", key));
        return;
      }
      m_rule.steering.operators[*kind] = weight;
    });
    readWeights(*steer, "patterns", [this](const toml::node&, std::string_view key, double weight) {
      m_rule.steering.patterns[std::string(key)] = weight;
    });
    readDirections(*steer);
  }
  template <class Take>
  void readWeights(const toml::table& steer, std::string_view key, Take take) {
    const toml::table* table = steer.get_as<toml::table>(key);
    if (table == nullptr) {
      return;
    }
    for (const auto& [name, value] : *table) {
      const double weight = value.value_or(0.0);
      if (!(weight > 0.0)) {
        fail(value, "a weight must be a number above 0");
      }
      take(value, name.str(), weight);
    }
  }
  void readDirections(const toml::table& steer) {
    const toml::table* table = steer.get_as<toml::table>("parameters");
    if (table == nullptr) {
      return;
    }
    for (const auto& [name, value] : *table) {
      const std::string direction = value.value_or(std::string());
      if (direction != "up" && direction != "down") {
        fail(value, "a parameter goes up or down");
      }
      m_rule.steering.parameters[std::string(name.str())] = direction == "up" ? 1 : -1;
    }
  }

  const fs::path& m_file;
  const toml::table& m_table;
  Rule m_rule;
  std::optional<Error> m_error;
};

Result<std::vector<fs::path>> filesOf(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  if (folder.empty() || !fs::exists(folder, error)) {
    return files;
  }
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().extension() == ".toml") {
      files.push_back(entry->path());
    }
  }
  if (error) {
    return Error(ErrorKind::Config, fmt::format("cannot list rules in '{}': {}", folder.string(), error.message()));
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

std::string_view name(Role role) {
  switch (role) {
    case Role::Fusion: return "fusion";
    case Role::Memory: return "memory";
    case Role::Parameters: return "parameters";
    case Role::Arithmetic: return "arithmetic";
  }
  return "parameters";
}

std::optional<Role> parseRole(std::string_view text) {
  for (int i = 0; i < kRoleCount; ++i) {
    if (const auto role = static_cast<Role>(i); name(role) == text) {
      return role;
    }
  }
  return std::nullopt;
}

bool Rule::isOfKernel() const {
  return std::any_of(when.begin(), when.end(), [](const RuleExpression& condition) {
    const auto names = condition.names();
    return std::any_of(names.begin(), names.end(), [](const auto& one) { return one.starts_with("kernel."); });
  });
}

Result<RuleBook> RuleBook::load(const std::vector<fs::path>& folders) {
  RuleBook book;
  for (const fs::path& folder : folders) {
    SWAGE_TRY_ASSIGN(const std::vector<fs::path> files, filesOf(folder));
    for (const fs::path& file : files) {
      SWAGE_TRY_ASSIGN(const std::string text, readTextFile(file, kLargestFile));
      SWAGE_TRY(book.add(text, file));
    }
  }
  return book;
}

Result<> RuleBook::add(std::string_view text, const fs::path& file) {
  toml::table root;
  try {
    root = toml::parse(text, file.string());
  } catch (const toml::parse_error& error) {
    return Error(ErrorKind::Config,
                 fmt::format("rules '{}', line {}: {}", file.string(), error.source().begin.line, error.description()));
  }
  const toml::array* list = root.get_as<toml::array>("rule");
  std::set<std::string> ofThisFile;
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const toml::table* table = list->get(i)->as_table();
    if (table == nullptr) {
      return Error(ErrorKind::Config, fmt::format("rules '{}': 'rule' must be tables: [[rule]]", file.string()));
    }
    const std::string id = (*table)["id"].value_or(std::string());
    if (!ofThisFile.insert(id).second) {
      return Error(ErrorKind::Config, fmt::format("rules '{}', line {}: there are two rules '{}'", file.string(),
                                                  table->source().begin.line, id));
    }
    const auto known = std::find_if(m_rules.begin(), m_rules.end(), [&id](const Rule& rule) { return rule.id == id; });
    if (!(*table)["enabled"].value_or(true)) {
      m_rules.erase(known, known == m_rules.end() ? known : known + 1);
      continue;
    }
    SWAGE_TRY_ASSIGN(Rule rule, RuleReader(file, *table).read());
    if (known != m_rules.end()) {
      *known = std::move(rule);
    } else {
      m_rules.push_back(std::move(rule));
    }
  }
  return {};
}

const Rule* RuleBook::find(std::string_view id) const {
  const auto found = std::find_if(m_rules.begin(), m_rules.end(), [id](const Rule& rule) { return rule.id == id; });
  return found == m_rules.end() ? nullptr : &*found;
}

}  // namespace swage::judge
