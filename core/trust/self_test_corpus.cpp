// SPDX-License-Identifier: Apache-2.0
#include "core/trust/self_test_corpus.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include "core/base/files.h"
#include "core/base/sha256.h"
#include "core/domain/json.h"

namespace swage::trust {
namespace {

namespace fs = std::filesystem;
using domain::ValueId;

Error malformed(const fs::path& file, std::string_view what) {
  return Error(ErrorKind::InvalidInput, fmt::format("self-test case '{}': {}", file.string(), what),
               "install Swage's data files again");
}

std::string ruleOf(const domain::Evaluation& evaluation) {
  if (const auto* rejected = std::get_if<domain::Rejected>(&evaluation)) {
    return rejected->rule;
  }
  if (const auto* wrong = std::get_if<domain::Wrong>(&evaluation)) {
    return wrong->rule;
  }
  const auto* cheating = std::get_if<domain::Cheating>(&evaluation);
  return cheating != nullptr ? cheating->rule : std::string();
}

std::string joined(const std::string& status, const std::string& rule) {
  return rule.empty() ? status : status + ": " + rule;
}

// Reads the files of a corpus and keeps a hash of them all.
class Reader {
 public:
  explicit Reader(fs::path root) : m_root(std::move(root)) {}

  Result<std::string> text(const fs::path& file) {
    SWAGE_TRY_ASSIGN(std::string content, readTextFile(file, std::size_t{4} << 20U));
    m_read += fmt::format("{}:{}:{}", fs::relative(file, m_root).string(), content.size(), content);
    return content;
  }

  Result<std::string> part(const std::string& name) { return text(m_root / "parts" / name); }

  Result<toml::table> table(const fs::path& file) {
    SWAGE_TRY_ASSIGN(const std::string content, text(file));
    try {
      return toml::parse(content, file.string());
    } catch (const toml::parse_error& error) {
      return malformed(file, fmt::format("line {}: {}", error.source().begin.line, error.description()));
    }
  }

  Result<domain::Task> task(const std::string& name) {
    const fs::path file = m_root / "tasks" / (name + ".json");
    SWAGE_TRY_ASSIGN(const std::string content, text(file));
    SWAGE_TRY_ASSIGN(const domain::Json json, domain::parseJson(content));
    if (!json.is_object() || !json.contains("graph") || !json.contains("input_generator")) {
      return malformed(file, "a task has a graph and an input_generator");
    }
    domain::Task task;
    task.name = name;
    SWAGE_TRY_ASSIGN(task.graph, domain::graphFromJson(json["graph"]));
    SWAGE_TRY_ASSIGN(task.inputGenerator, domain::graphFromJson(json["input_generator"]));
    task.id = domain::taskId(task);
    return task;
  }

  [[nodiscard]] std::string hash() const { return sha256Hex(m_read); }

 private:
  fs::path m_root;
  std::string m_read;
};

template <typename Number>
std::optional<Number> numberIn(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

// "%3", "i32 5", "i64 777", "f32 0.5", "f64 0.5".
std::optional<domain::KernelArgument> parseArgument(std::string_view text) {
  if (text.starts_with('%')) {
    const auto id = numberIn<std::int32_t>(text.substr(1));
    return id ? std::optional<domain::KernelArgument>(ValueId(*id)) : std::nullopt;
  }
  const std::string_view type = text.substr(0, text.find(' '));
  const std::string_view value = text.substr(std::min(text.size(), type.size() + 1));
  const auto as = [&](auto number) -> std::optional<domain::KernelArgument> {
    return number ? std::optional<domain::KernelArgument>(*number) : std::nullopt;
  };
  if (type == "i32") {
    const auto number = numberIn<std::int32_t>(value);
    return number ? std::optional<domain::KernelArgument>(domain::Int32{*number}) : std::nullopt;
  }
  if (type == "i64") {
    return as(numberIn<std::int64_t>(value));
  }
  if (type == "f32") {
    return as(numberIn<float>(value));
  }
  return type == "f64" ? as(numberIn<double>(value)) : std::nullopt;
}

// "float32[1000,777]".
std::optional<domain::TensorType> parseBuffer(std::string_view text) {
  const std::size_t open = text.find('[');
  const auto dtype = domain::parseScalarType(text.substr(0, open));
  if (open == std::string_view::npos || !text.ends_with(']') || !dtype) {
    return std::nullopt;
  }
  std::string_view sizes = text.substr(open + 1, text.size() - open - 2);
  domain::Shape shape;
  while (!sizes.empty()) {
    const std::size_t comma = sizes.find(',');
    const auto size = numberIn<std::int64_t>(sizes.substr(0, comma));
    if (!size) {
      return std::nullopt;
    }
    shape.push_back(*size);
    sizes.remove_prefix(comma == std::string_view::npos ? sizes.size() : comma + 1);
  }
  return domain::contiguousTensor(*dtype, shape);
}

std::vector<std::string> strings(const toml::node_view<const toml::node>& node) {
  std::vector<std::string> result;
  if (const toml::array* array = node.as_array()) {
    for (const toml::node& item : *array) {
      result.push_back(item.value_or(std::string("?")));
    }
  } else if (const auto text = node.value<std::string>()) {
    result.push_back(*text);
  }
  return result;
}

domain::Dim3 dimensions(const toml::node_view<const toml::node>& node) {
  const auto at = [&](std::size_t index) { return static_cast<std::uint32_t>(node[index].value_or(std::int64_t{1})); };
  return node.is_array() ? domain::Dim3{at(0), at(1), at(2)}
                         : domain::Dim3{static_cast<std::uint32_t>(node.value_or(std::int64_t{1})), 1, 1};
}

Result<domain::KernelStep> parseKernel(const fs::path& file, const toml::table& table) {
  domain::KernelStep step;
  step.entry = table["kernel"].value_or(std::string());
  step.grid = dimensions(table["grid"]);
  step.block = dimensions(table["block"]);
  step.dynamicSharedBytes = static_cast<std::uint32_t>(table["shared"].value_or(std::int64_t{0}));
  for (const std::string& text : strings(table["arguments"])) {
    const auto argument = parseArgument(text);
    if (!argument) {
      return malformed(file, fmt::format("'{}' is no argument", text));
    }
    step.arguments.push_back(*argument);
  }
  return step;
}

Result<domain::PlanStep> parseStep(const fs::path& file, const toml::table& table, const domain::Graph& graph) {
  if (table.contains("kernel")) {
    SWAGE_TRY_ASSIGN(domain::KernelStep step, parseKernel(file, table));
    return domain::PlanStep(std::move(step));
  }
  if (const auto buffer = table["zero"].value<std::int64_t>()) {
    return domain::PlanStep(domain::ZeroStep{ValueId(static_cast<std::int32_t>(*buffer))});
  }
  const auto node = table["node"].value<std::int64_t>();
  if (!node || *node < 0 || *node >= static_cast<std::int64_t>(graph.nodes.size())) {
    return malformed(file, "a step has a kernel, zeroes a buffer or calls a node of the task's graph");
  }
  domain::AtenStep step{graph.nodes[static_cast<std::size_t>(*node)]};
  step.node.op = table["operator"].value_or(step.node.op);
  return domain::PlanStep(std::move(step));
}

Result<domain::LaunchPlan> parsePlan(const fs::path& file, const toml::table& table, const domain::Graph& graph) {
  domain::LaunchPlan plan;
  plan.buffers = graph.values;
  for (const std::string& text : strings(table["scratch"])) {
    const auto buffer = parseBuffer(text);
    if (!buffer) {
      return malformed(file, fmt::format("'{}' is no buffer", text));
    }
    plan.buffers.push_back(*buffer);
  }
  for (const auto& input : graph.inputs) {
    plan.inputs.push_back(input.value);
  }
  for (const auto& output : graph.outputs) {
    plan.outputs.push_back(output.value);
  }
  if (const toml::array* outputs = table["outputs"].as_array()) {
    plan.outputs.clear();
    for (const toml::node& id : *outputs) {
      plan.outputs.emplace_back(static_cast<std::int32_t>(id.value_or(std::int64_t{-1})));
    }
  }
  const toml::array* steps = table["step"].as_array();
  for (std::size_t i = 0; steps != nullptr && i < steps->size(); ++i) {
    const toml::table* step = steps->get(i)->as_table();
    if (step == nullptr) {
      return malformed(file, "a step is a table");
    }
    SWAGE_TRY_ASSIGN(domain::PlanStep parsed, parseStep(file, *step, graph));
    plan.steps.push_back(std::move(parsed));
  }
  return plan;
}

ExpectedVerdict parseExpected(const std::string& text) {
  const std::size_t colon = text.find(": ");
  return {text.substr(0, colon), colon == std::string::npos ? std::string() : text.substr(colon + 2)};
}

// The shared parts that the case names, then its own kernel. Empty where it has none.
Result<std::string> sourceOf(Reader& reader, const fs::path& folder, std::string_view suffix,
                             const std::vector<std::string>& parts) {
  const fs::path own = folder / fmt::format("kernel{}", suffix);
  if (std::error_code ignored; !fs::exists(own, ignored)) {
    return std::string();
  }
  std::string source;
  for (const std::string& part : parts) {
    SWAGE_TRY_ASSIGN(const std::string text, reader.part(fmt::format("{}{}", part, suffix)));
    source += text;
  }
  SWAGE_TRY_ASSIGN(const std::string text, reader.text(own));
  return source + text;
}

Result<PlantedCase> parseCase(Reader& reader, const fs::path& folder, domain::Language language,
                              std::map<std::string, domain::Task>& tasks) {
  const fs::path file = folder / "case.toml";
  SWAGE_TRY_ASSIGN(const toml::table table, reader.table(file));
  PlantedCase planted;
  planted.name = folder.filename().string();
  planted.task = table["task"].value_or(std::string());
  planted.family = table["family"].value_or(std::string());
  planted.why = table["why"].value_or(std::string());
  planted.says = table["says"].value_or(std::string());
  planted.limitSeconds = table["limit"].value_or(0.0);
  planted.needs = table["needs"].value_or(std::string());
  for (const std::string& text : strings(table["expect"])) {
    planted.expected.push_back(parseExpected(text));
  }
  if (planted.family.empty() || planted.why.empty() || planted.expected.empty()) {
    return malformed(file, "'task', 'family', 'why' and 'expect' are required");
  }
  if (!tasks.contains(planted.task)) {
    SWAGE_TRY_ASSIGN(tasks[planted.task], reader.task(planted.task));
  }
  planted.program.language = language;
  SWAGE_TRY_ASSIGN(planted.program.plan, parsePlan(file, table, tasks[planted.task].graph));
  SWAGE_TRY_ASSIGN(planted.program.source,
                   sourceOf(reader, folder, domain::factsOf(language).sourceSuffix, strings(table["parts"])));
  if (planted.program.plan.hasKernels() == planted.program.source.empty()) {
    return malformed(file, "a plan with kernels has a source, another one has none");
  }
  return planted;
}

Result<std::vector<fs::path>> caseFolders(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->is_directory(error)) {
      found.push_back(entry->path());
    }
  }
  if (error || found.empty()) {
    return Error(ErrorKind::Environment,
                 fmt::format("there are no self-test cases in '{}': {}", folder.string(), error.message()),
                 "install Swage's data files, or run it from its source tree");
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

Result<SelfTestCorpus> SelfTestCorpus::load(const fs::path& folder, domain::DeviceKind device) {
  SWAGE_TRY_ASSIGN(const std::vector<fs::path> folders, caseFolders(folder / std::string(domain::name(device))));
  SelfTestCorpus corpus;
  Reader reader(folder);
  for (const fs::path& one : folders) {
    SWAGE_TRY_ASSIGN(PlantedCase planted, parseCase(reader, one, domain::standardLanguage(device), corpus.tasks));
    corpus.cases.push_back(std::move(planted));
  }
  std::stable_sort(corpus.cases.begin(), corpus.cases.end(),
                   [](const PlantedCase& a, const PlantedCase& b) { return a.task < b.task; });
  corpus.hash = reader.hash();
  return corpus;
}

Result<domain::Task> SelfTestCorpus::loadTask(const fs::path& folder, const std::string& name) {
  return Reader(folder).task(name);
}

std::string verdictText(const domain::Evaluation& evaluation) {
  return joined(std::string(domain::statusName(evaluation)), ruleOf(evaluation));
}

std::string verdictText(const std::vector<ExpectedVerdict>& expected) {
  std::vector<std::string> texts;
  texts.reserve(expected.size());
  for (const ExpectedVerdict& one : expected) {
    texts.push_back(joined(one.status, one.rule));
  }
  return fmt::format("{}", fmt::join(texts, " | "));
}

bool isExpected(const PlantedCase& planted, const domain::Evaluation& evaluation) {
  const std::string status(domain::statusName(evaluation));
  const std::string rule = ruleOf(evaluation);
  const bool matches =
      std::any_of(planted.expected.begin(), planted.expected.end(), [&](const ExpectedVerdict& expected) {
        return expected.status == status && (expected.rule.empty() || expected.rule == rule);
      });
  return matches && domain::summary(evaluation).find(planted.says) != std::string::npos;
}

}  // namespace swage::trust
