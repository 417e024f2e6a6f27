// SPDX-License-Identifier: Apache-2.0
#include "core/models/prompt.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/domain/json.h"
#include "core/models/clean_text.h"
#include "core/models/prompt_templates.h"

namespace swage::models {
namespace {

using Values = std::map<std::string, std::string, std::less<>>;

constexpr std::size_t kMostOfLog = 4096;
constexpr std::size_t kMostOfSource = 32768;
constexpr std::size_t kMostOfParent = 65536;
constexpr std::size_t kMostOfRelative = 16384;
constexpr std::size_t kMostOfPattern = 1500;
constexpr std::size_t kMostOfPatternSummary = 500;
constexpr std::size_t kMostPatterns = 4;

std::string fill(std::string_view name, const Values& values = {}) {
  return filledIn(promptTemplate(name), values);
}

std::string forLanguage(std::string_view name, domain::Language language) {
  return fill(fmt::format("{}_{}", name, domain::name(language)));
}

std::string typeText(const domain::TensorType& type) {
  std::string text = fmt::format("{}[{}]", domain::name(type.dtype), fmt::join(type.shape, ", "));
  return type.isContiguous() ? text : text + fmt::format(" with strides [{}]", fmt::join(type.strides, ", "));
}

std::string valueText(const domain::Argument& argument);

struct ArgumentText {
  std::string operator()(std::monostate) const { return "None"; }
  std::string operator()(domain::ValueId id) const { return fmt::format("%{}", id.value()); }
  std::string operator()(bool value) const { return value ? "True" : "False"; }
  std::string operator()(std::int64_t value) const { return fmt::format("{}", value); }
  std::string operator()(double value) const { return fmt::format("{}", value); }
  std::string operator()(const std::string& value) const { return fmt::format("'{}'", cleanLine(value, 200)); }
  std::string operator()(domain::ScalarType value) const { return std::string(domain::name(value)); }
  std::string operator()(const domain::DeviceArgument&) const { return "device"; }
  std::string operator()(const domain::LayoutArgument& value) const { return cleanLine(value.layout, 40); }
  std::string operator()(const domain::MemoryFormatArgument& value) const { return cleanLine(value.format, 40); }
  std::string operator()(const domain::ArgumentList& list) const {
    std::vector<std::string> items;
    for (const domain::Argument& item : list) {
      items.push_back(valueText(item));
    }
    return fmt::format("[{}]", fmt::join(items, ", "));
  }
};

std::string valueText(const domain::Argument& argument) {
  return std::visit(ArgumentText{}, argument.value);
}

std::string nodeText(const domain::Graph& graph, std::size_t index) {
  const domain::Node& node = graph.nodes[index];
  std::vector<std::string> results;
  for (const domain::ValueId id : node.outputs) {
    results.push_back(id.isValid() ? fmt::format("%{}: {}", id.value(), typeText(graph.type(id))) : "_");
  }
  std::vector<std::string> arguments;
  for (const domain::Argument& argument : node.args) {
    arguments.push_back(valueText(argument));
  }
  for (const auto& [name, argument] : node.kwargs) {
    arguments.push_back(fmt::format("{}={}", name, valueText(argument)));
  }
  return fmt::format("node {}: {} = {}({})\n", index, fmt::join(results, ", "), node.op, fmt::join(arguments, ", "));
}

std::string deviceText(const domain::DeviceInfo& device) {
  std::string text = fmt::format("{} ({})", cleanLine(device.name, 100), cleanLine(device.architecture, 40));
  const auto add = [&text](std::string_view what, double value, std::string_view unit) {
    if (value > 0.0) {
      text += fmt::format("\n- {}: {:g} {}", what, value, unit);
    }
  };
  constexpr double kMega = 1e6;
  constexpr double kGiga = 1e9;
  const bool isCpu = device.kind == domain::DeviceKind::Cpu;
  add(isCpu ? "cores" : "multiprocessors", device.multiprocessors, "");
  add("OpenMP threads", isCpu ? device.threads : 0, "");
  add(isCpu ? "last level cache" : "L2 cache", static_cast<double>(device.cacheBytes) / kMega, "MB");
  add("shared memory that a block can have", static_cast<double>(device.sharedBytesPerBlock), "bytes");
  add("memory bandwidth of a copy, measured", device.copyBytesPerSecond / kGiga, "GB/s");
  return text;
}

std::string listText(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    text += "- " + cleanLine(line, 300) + "\n";
  }
  return lines.empty() ? "Nothing." : text;
}

std::string adviceText(const std::optional<domain::Advice>& advice) {
  if (!advice) {
    return {};
  }
  std::string text = fmt::format("\nAdvice of the profiler's rules: {}\nDo this: {}",
                                 cleanText(advice->bottleneck, 1000), cleanText(advice->method, 1000));
  if (!advice->plan.empty()) {
    text += fmt::format("\nHow: {}", cleanText(advice->plan, 2000));
  }
  for (const domain::AdviceEvidence& evidence : advice->evidence) {
    text += fmt::format("\n- {}: {:g} {}", cleanLine(evidence.name, 100), evidence.value, cleanLine(evidence.unit, 20));
  }
  if (advice->line > 0) {
    text += fmt::format("\n- at line {} of the source", advice->line);
  }
  if (advice->expectedGain) {
    text += fmt::format("\n- it may make the program {:.2g} times as fast", *advice->expectedGain);
  }
  return text + "\n";
}

std::string patternsText(const std::vector<PatternHint>& patterns) {
  std::string found;
  for (std::size_t i = 0; i < std::min(patterns.size(), kMostPatterns); ++i) {
    const PatternHint& hint = patterns[i];
    found += fmt::format("- {} ({}). {}\n", cleanLine(hint.title, 200), cleanLine(hint.origin, 40),
                         cleanLine(hint.summary, kMostOfPatternSummary));
    if (!hint.body.empty()) {
      found += "\n" + fenced("", cleanText(hint.body, kMostOfPattern)) + "\n\n";
    }
  }
  return found.empty() ? found : fill("patterns", {{"found", withoutSecrets(found)}}) + "\n";
}

std::string relativeText(const std::optional<RelativeFacts>& relative) {
  if (!relative) {
    return {};
  }
  const std::string program = fenced(fenceTag(relative->language), cleanText(relative->source, kMostOfRelative));
  return fill("relative", {{"language", std::string(domain::factsOf(relative->language).displayName)},
                           {"device", cleanLine(relative->device, 100)},
                           {"speedup", fmt::format("{:.3g}", relative->speedup)},
                           {"program", withoutSecrets(program)}}) +
         "\n";
}

// "aten.sum.dim_IntList" is "sum".
std::string operatorName(std::string_view op) {
  const std::size_t begin = op.find('.');
  const std::string_view name = begin == std::string_view::npos ? op : op.substr(begin + 1);
  return std::string(name.substr(0, name.find('.')));
}

std::string taskText(const PromptFacts& facts) {
  const std::string source = facts.source.empty()
                                 ? std::string()
                                 : "In PyTorch:\n\n" + fenced("python", cleanText(facts.source, kMostOfSource)) + "\n";
  return fill("task", {{"source", withoutSecrets(source)},
                       {"graph", fenced("", graphText(facts.task.graph))},
                       {"device", deviceText(facts.device)},
                       {"example", forLanguage("example", facts.language)}});
}

std::string lineOf(std::string_view source, int number) {
  std::size_t begin = 0;
  for (; number > 1 && begin < source.size(); --number) {
    begin = std::min(source.find('\n', begin), source.size() - 1) + 1;
  }
  const std::string_view line = source.substr(std::min(begin, source.size()));
  const std::string_view code = line.substr(0, line.find('\n'));
  return cleanLine(code.substr(std::min(code.find_first_not_of(" \t"), code.size())), 120);
}

// The hottest of all kernels, where samples were taken.
std::string hotLinesText(const ParentFacts& parent) {
  constexpr std::size_t kMostLines = 3;
  std::vector<domain::HotLine> lines;
  for (const KernelNumbers& kernel : parent.kernels) {
    lines.insert(lines.end(), kernel.lines.begin(), kernel.lines.end());
  }
  std::stable_sort(lines.begin(), lines.end(), [](const auto& a, const auto& b) { return a.share > b.share; });
  lines.resize(std::min(lines.size(), kMostLines));
  std::string text;
  for (const domain::HotLine& line : lines) {
    const std::string code = lineOf(parent.program.source, line.line);
    text += fmt::format("\n- line {} of the source takes about {:.0f} % of the time{}{}", line.line, 100.0 * line.share,
                        line.reason.empty() ? "" : fmt::format(" (waits: {})", cleanLine(line.reason, 40)),
                        code.empty() ? "" : ": " + code);
  }
  return text;
}

std::string numbersText(const ParentFacts& parent) {
  constexpr double kMicro = 1e3;
  std::string text = fmt::format("It takes {:.4g} µs, which is {:.3g} times as fast as PyTorch in eager mode.",
                                 parent.timeNs / kMicro, parent.speedup);
  if (parent.floorNs > 0.0) {
    text += fmt::format(" Moving the task's data once takes {:.4g} µs.", parent.floorNs / kMicro);
  }
  if (parent.roofNs > 0.0 && parent.timeNs > 0.0) {
    text += fmt::format(" The roofline allows {:.4g} µs: it reaches {:.0f} % of it.", parent.roofNs / kMicro,
                        100.0 * std::min(1.0, parent.roofNs / parent.timeNs));
  }
  for (const KernelNumbers& kernel : parent.kernels) {
    std::vector<std::string> known;
    if (kernel.registers > 0) {
      known.push_back(fmt::format("{} registers a thread", kernel.registers));
    }
    if (kernel.occupancy > 0.0) {
      known.push_back(fmt::format("{:.0f} % occupancy", 100.0 * kernel.occupancy));
    }
    if (!known.empty()) {
      text += fmt::format("\n- {}: {}", cleanLine(kernel.entry, 100), fmt::join(known, ", "));
    }
  }
  return text + hotLinesText(parent);
}

std::string parentText(const ParentFacts& parent, const domain::Graph& graph) {
  const domain::Program& program = parent.program;
  std::string text = fenced(fenceTag(program.language), cleanText(program.source, kMostOfParent)) + "\n\n";
  const std::optional<std::string> plan = shortPlan(program.plan, graph);
  return text + (plan ? fenced("json", *plan) : "Its launch plan cannot be written in this form.");
}

domain::Json argumentJson(const domain::KernelArgument& argument) {
  struct Writer {
    domain::Json operator()(domain::ValueId id) const { return id.value(); }
    domain::Json operator()(domain::Int32 value) const { return {{"i32", value.value}}; }
    domain::Json operator()(std::int64_t value) const { return {{"i64", value}}; }
    domain::Json operator()(float value) const { return {{"f32", value}}; }
    domain::Json operator()(double value) const { return {{"f64", value}}; }
    domain::Json operator()(const domain::TensorMap&) const { return nullptr; }
  };
  return std::visit(Writer{}, argument);
}

std::optional<domain::Json> stepJson(const domain::PlanStep& step, const domain::Graph& graph) {
  if (const auto* zero = std::get_if<domain::ZeroStep>(&step)) {
    return domain::Json{{"zero", zero->buffer.value()}};
  }
  if (const auto* aten = std::get_if<domain::AtenStep>(&step)) {
    const auto found = std::find(graph.nodes.begin(), graph.nodes.end(), aten->node);
    return found == graph.nodes.end() ? std::nullopt
                                      : std::optional(domain::Json{{"node", found - graph.nodes.begin()}});
  }
  const auto& kernel = std::get<domain::KernelStep>(step);
  domain::Json json{{"kernel", kernel.entry}, {"arguments", domain::Json::array()}};
  for (const domain::KernelArgument& argument : kernel.arguments) {
    json["arguments"].push_back(argumentJson(argument));
    if (json["arguments"].back().is_null()) {
      return std::nullopt;
    }
  }
  const auto addExtent = [&json](const char* name, const domain::Dim3& extent) {
    if (extent != domain::Dim3()) {
      json[name] = {extent.x, extent.y, extent.z};
    }
  };
  addExtent("grid", kernel.grid);
  addExtent("block", kernel.block);
  addExtent("cluster", kernel.cluster);
  if (kernel.dynamicSharedBytes > 0) {
    json["shared"] = kernel.dynamicSharedBytes;
  }
  if (kernel.cooperative) {
    json["cooperative"] = true;
  }
  return json;
}

// The beginning of it, where the first error is.
std::string logText(const std::string& log) {
  std::string text = cleanText(log, kMostOfLog);
  if (log.size() > kMostOfLog) {
    text += fmt::format("\n… and {} bytes more", log.size() - kMostOfLog);
  }
  return text.empty() ? text : fenced("", text);
}

struct DetailsText {
  std::string operator()(const domain::CompileFailed& failed) const { return logText(failed.log); }
  std::string operator()(const domain::Wrong& wrong) const {
    std::string text;
    if (wrong.element >= 0) {
      text = fmt::format(
          "Output {} is wrong; the worst element is number {} (counted row by row): {:.9g} is wanted, {:.9g} came.",
          wrong.output, wrong.element, wrong.expected, wrong.actual);
    }
    if (!wrong.first.empty()) {
      text += fmt::format(
          "\n{} of output {}, by their index in each dimension:\n- {}",
          wrong.first.size() < domain::kMostWrongElements ? "All wrong elements" : "The first wrong elements",
          wrong.output, fmt::join(domain::firstWrongLines(wrong), "\n- "));
    }
    for (const domain::OutputError& error : wrong.errors) {
      text +=
          fmt::format("\nOutput {}: relative error {:.3g}, largest error {:.3g}; PyTorch's own: {:.3g} and {:.3g}.",
                      error.output, error.relativeL2, error.maxAbsolute, error.eagerRelativeL2, error.eagerMaxAbsolute);
    }
    return text;
  }
  template <class Other>
  std::string operator()(const Other&) const {
    return {};
  }
};

}  // namespace

std::string_view fenceTag(domain::Language language) {
  return domain::name(language);
}

std::string fenced(std::string_view tag, std::string_view text) {
  std::size_t longest = 2;
  std::size_t run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  return fmt::format("{}{}\n{}{}{}", fence, tag, text, text.ends_with('\n') || text.empty() ? "" : "\n", fence);
}

std::string graphText(const domain::Graph& graph) {
  std::string text;
  for (const domain::GraphInput& input : graph.inputs) {
    const std::string_view kind = input.kind == domain::InputKind::User ? "input" : "parameter";
    text += fmt::format("{} %{}: {} {}\n", kind, input.value.value(), typeText(graph.type(input.value)),
                        cleanLine(input.name, 100));
  }
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    text += nodeText(graph, i);
  }
  for (const domain::GraphOutput& output : graph.outputs) {
    text += fmt::format("output %{}: {}\n", output.value.value(), typeText(graph.type(output.value)));
  }
  return text;
}

std::optional<std::string> shortPlan(const domain::LaunchPlan& plan, const domain::Graph& graph) {
  const std::size_t own = graph.values.size();
  const bool isOnTask =
      plan.buffers.size() >= own && std::equal(graph.values.begin(), graph.values.end(), plan.buffers.begin());
  if (!isOnTask) {
    return std::nullopt;
  }
  domain::Json json{{"steps", domain::Json::array()}};
  for (std::size_t i = own; i < plan.buffers.size(); ++i) {
    json["scratch"].push_back({{"dtype", domain::name(plan.buffers[i].dtype)}, {"shape", plan.buffers[i].shape}});
  }
  for (const domain::PlanStep& step : plan.steps) {
    auto one = stepJson(step, graph);
    if (!one) {
      return std::nullopt;
    }
    json["steps"].push_back(std::move(*one));
  }
  return domain::dumpJson(json);
}

std::string patternQuestion(const PromptFacts& facts) {
  constexpr std::size_t kMostOperators = 8;
  constexpr std::int64_t kLongRow = 32768;
  constexpr std::int64_t kShortRow = 1024;
  const domain::Graph& graph = facts.task.graph;
  std::vector<std::string> words;
  const auto add = [&words](std::string word) {
    if (std::find(words.begin(), words.end(), word) == words.end()) {
      words.push_back(std::move(word));
    }
  };
  for (std::size_t i = 0; i < std::min(graph.nodes.size(), kMostOperators); ++i) {
    add(operatorName(graph.nodes[i].op));
  }
  for (const domain::GraphInput& input : graph.inputs) {
    const domain::TensorType& type = graph.type(input.value);
    if (input.kind == domain::InputKind::User && type.shape.size() > 1) {
      add(type.shape.back() >= kLongRow ? "long rows" : type.shape.back() <= kShortRow ? "short rows" : "rows");
    }
    add(std::string(domain::name(type.dtype)));
  }
  const bool isCpu = facts.device.kind == domain::DeviceKind::Cpu;
  add(isCpu ? "cpu" : "gpu " + facts.device.architecture);
  if (facts.advice) {
    add(cleanLine(facts.advice->method, 200));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

ChatRequest firstRequest(const PromptFacts& facts) {
  const bool isCpu = domain::factsOf(facts.language).device == domain::DeviceKind::Cpu;
  const std::string step = isCpu ? R"({"kernel": "name", "arguments": [0, 2, {"i64": 4096}]})"
                                 : R"({"kernel": "name", "arguments": [0, 2, {"i64": 4096}], )"
                                   R"("grid": [64, 1, 1], "block": [256, 1, 1]})";
  const std::string form = fill("form", {{"tag", std::string(fenceTag(facts.language))},
                                         {"step", step},
                                         {"plan_rules", forLanguage("plan", facts.language)}});
  ChatRequest request;
  request.system = fill("system", {{"language", std::string(domain::factsOf(facts.language).displayName)},
                                   {"rules", forLanguage("rules", facts.language)},
                                   {"form", form}});
  Values values{{"task", taskText(facts)},
                {"failures", listText(facts.failures)},
                {"advice", adviceText(facts.advice)},
                {"relative", relativeText(facts.relative)},
                {"patterns", patternsText(facts.patterns)}};
  if (facts.parent) {
    values["numbers"] = numbersText(*facts.parent);
    values["parent"] = parentText(*facts.parent, facts.task.graph);
  }
  request.messages.push_back({Role::User, fill(facts.parent ? "optimise" : "begin", values)});
  return request;
}

std::string repairMessage(const domain::Evaluation& evaluation, const std::optional<domain::Advice>& advice) {
  return withoutSecrets(fill("repair", {{"what", cleanLine(domain::summary(evaluation), 500)},
                                        {"details", std::visit(DetailsText{}, evaluation)},
                                        {"advice", adviceText(advice)}}));
}

std::string againMessage(domain::Language language, std::string_view error) {
  return fill("again", {{"tag", std::string(fenceTag(language))}, {"error", cleanLine(error, 500)}});
}

}  // namespace swage::models
