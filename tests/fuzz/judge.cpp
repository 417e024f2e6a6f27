// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/judge.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <string_view>

#include <fmt/format.h>

namespace swage::fuzz {
namespace {

using namespace std::chrono_literals;

constexpr auto kLimit = 60s;
constexpr int kSeeds = 2;
// An error of so many roundings, or so many times PyTorch's own, is no wrong formula.
constexpr double kRoundings = 256.0;
constexpr double kTimesEager = 32.0;
constexpr double kLost = 0.05;

double epsilon(domain::ScalarType type) {
  switch (type) {
    case domain::ScalarType::Float16: return 0x1.0p-10;
    case domain::ScalarType::BFloat16: return 0x1.0p-7;
    case domain::ScalarType::Float64: return 0x1.0p-52;
    default: return 0x1.0p-23;
  }
}

// Operators that give another result, and not one a rounding off, where an operand is a rounding off.
bool isStep(std::string_view op) {
  constexpr std::array<std::string_view, 18> names{"argmax", "argmin", "floor", "ceil",     "trunc", "sign",
                                                   "eq",     "ne",     "lt",    "le",       "gt",    "ge",
                                                   "max",    "min",    "to",    "_to_copy", "where", "masked_fill"};
  const std::string_view name = op.substr(5, op.find('.', 5) - 5);
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Operators whose results PyTorch and every candidate agree on to the last bit, if they do so on the operands.
bool isExact(std::string_view op) {
  constexpr std::array<std::string_view, 27> names{
      "neg",     "abs",    "relu",   "relu6",     "hardtanh", "clamp",  "clamp_min",   "clamp_max",   "maximum",
      "minimum", "amax",   "amin",   "clone",     "alias",    "detach", "contiguous",  "dropout",     "permute",
      "slice",   "select", "expand", "unsqueeze", "flip",     "cat",    "logical_not", "logical_and", "logical_or"};
  const std::string_view name = op.substr(5, op.find('.', 5) - 5);
  return std::find(names.begin(), names.end(), name) != names.end() || isStep(op);
}

// Whether a rounding may decide what the output is: it depends on a step of something that was computed.
bool hangsOnRounding(const domain::Graph& graph, domain::ValueId output) {
  std::map<domain::ValueId, bool> isRounded;
  std::map<domain::ValueId, bool> hangs;
  for (const domain::Node& node : graph.nodes) {
    bool rounded = !isExact(node.op);
    bool onStep = false;
    for (const domain::ValueId input : domain::inputsOf(node)) {
      const bool isReal = domain::isFloating(graph.type(input).dtype);
      rounded = rounded || (isRounded[input] && isReal);
      onStep = onStep || hangs[input] || (isStep(node.op) && isRounded[input] && isReal);
    }
    for (const domain::ValueId made : node.outputs) {
      isRounded[made] = rounded;
      hangs[made] = onStep;
    }
  }
  return hangs[output];
}

// Whether a value is such a one or is computed from one.
bool dependsOnValue(const domain::Graph& graph, domain::ValueId value,
                    const std::function<bool(domain::ValueId)>& isSuch) {
  std::set<domain::ValueId> found;
  const auto isFound = [&](domain::ValueId one) { return isSuch(one) || found.contains(one); };
  for (const domain::Node& node : graph.nodes) {
    const std::vector<domain::ValueId> inputs = domain::inputsOf(node);
    if (std::any_of(inputs.begin(), inputs.end(), isFound)) {
      found.insert(node.outputs.begin(), node.outputs.end());
    }
  }
  return isFound(value);
}

// Whether an output is computed from the result of such a node.
bool dependsOn(const domain::Graph& graph, domain::ValueId output,
               bool (*isSuch)(const domain::Graph&, const domain::Node&)) {
  std::set<domain::ValueId> made;
  for (const domain::Node& node : graph.nodes) {
    if (isSuch(graph, node)) {
      made.insert(node.outputs.begin(), node.outputs.end());
    }
  }
  return dependsOnValue(graph, output, [&made](domain::ValueId value) { return made.contains(value); });
}

// How many numbers a normalisation takes the mean of; 0: the node is none.
std::int64_t normalised(const domain::Graph& graph, const domain::Node& node) {
  const std::string_view name = std::string_view(node.op).substr(5, node.op.find('.', 5) - 5);
  const bool isOfLayers = name == "layer_norm";
  const bool isOfGroups = name == "group_norm";
  if (name == "rms_norm") {
    return graph.type(domain::inputsOf(node).front()).shape.back();
  }
  if (!isOfLayers && !isOfGroups && name.find("batch_norm") == std::string_view::npos) {
    return 0;
  }
  const domain::TensorType& input = graph.type(domain::inputsOf(node).front());
  if (isOfLayers) {
    const auto& shape = std::get<domain::ArgumentList>(node.args[1].value);
    return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, [](std::int64_t count, const auto& extent) {
      return count * std::get<std::int64_t>(extent.value);
    });
  }
  const std::int64_t groups = isOfGroups ? input.shape[0] * std::get<std::int64_t>(node.args[1].value) : input.shape[1];
  return input.elementCount() / std::max<std::int64_t>(1, groups);
}

// The difference of two numbers that are nearly equal is mostly rounding, which the normalisation scales up to 1.
bool normalisesFew(const domain::Graph& graph, const domain::Node& node) {
  constexpr std::int64_t kFew = 2;
  const std::int64_t count = normalised(graph, node);
  return count > 0 && count <= kFew;
}

bool isExpanded(const domain::TensorType& type) {
  for (std::size_t i = 0; i < type.shape.size(); ++i) {
    if (type.shape[i] > 1 && type.strides[i] == 0) {
      return true;
    }
  }
  return false;
}

// Numbers that a normalisation takes the mean of may all be the same one, where its input stems from an expanded value.
// Their differences are 0 for PyTorch, which adds up differences, and roundings of their sum for others.
bool normalisesEqual(const domain::Graph& graph, const domain::Node& node) {
  const auto isExpandedValue = [&graph](domain::ValueId value) { return isExpanded(graph.type(value)); };
  return normalised(graph, node) > 0 && dependsOnValue(graph, domain::inputsOf(node).front(), isExpandedValue);
}

// The square of a difference has twice its relative error, and of numbers that are nearly equal that is mostly
// rounding.
bool squaresFew(const domain::Graph& graph, const domain::Node& node) {
  constexpr std::int64_t kFew = 2;
  const bool squares = node.op.starts_with("aten.mse_loss.") || node.op.starts_with("aten.huber_loss.") ||
                       node.op.starts_with("aten.smooth_l1_loss.");
  return squares && graph.type(domain::inputsOf(node).front()).elementCount() <= kFew;
}

// A negative number has powers where the exponent is an integer, and a rounding away from it none.
bool raisesToComputed(const domain::Graph& /*graph*/, const domain::Node& node) {
  return node.op == "aten.pow.Tensor_Tensor";
}

// A product of many numbers overflows in one order and not in another.
bool multipliesMany(const domain::Graph& /*graph*/, const domain::Node& node) {
  return node.op.starts_with("aten.prod.");
}

bool isInexact(const domain::Wrong& wrong, const domain::Graph& graph) {
  if ((wrong.rule != "error" && wrong.rule != "nan") ||
      static_cast<std::size_t>(wrong.output) >= graph.outputs.size()) {
    return false;
  }
  const domain::ValueId output = graph.outputs[static_cast<std::size_t>(wrong.output)].value;
  const domain::ScalarType type = graph.type(output).dtype;
  if (hangsOnRounding(graph, output) || dependsOn(graph, output, normalisesFew) ||
      dependsOn(graph, output, squaresFew) || dependsOn(graph, output, normalisesEqual) ||
      (wrong.rule == "nan" && dependsOn(graph, output, multipliesMany))) {
    return true;
  }
  if (std::isnan(wrong.expected) != std::isnan(wrong.actual) && dependsOn(graph, output, raisesToComputed)) {
    return true;
  }
  // Exponentials below the normal numbers are 0 in vectors.
  constexpr double kNormal = std::numeric_limits<float>::min();
  if (std::abs(wrong.expected) < kNormal && std::abs(wrong.actual) < kNormal) {
    return true;
  }
  for (const domain::OutputError& error : wrong.errors) {
    if (error.output == wrong.output && domain::isFloating(type)) {
      // Where PyTorch itself is lost, to an overflow of a 16-bit type mostly, nobody has to be right.
      return !(error.eagerRelativeL2 < kLost) ||
             error.relativeL2 <= kRoundings * epsilon(type) + kTimesEager * error.eagerRelativeL2;
    }
  }
  return false;
}

Finding findingOf(const domain::Evaluation& evaluation, const domain::Graph& graph) {
  if (const auto* wrong = std::get_if<domain::Wrong>(&evaluation)) {
    const std::string detail = fmt::format("output {}, element {}: {} instead of {} ({}: {})", wrong->output,
                                           wrong->element, wrong->actual, wrong->expected, wrong->rule, wrong->detail);
    return {isInexact(*wrong, graph) ? std::string(kInexact) : "wrong", detail, {}};
  }
  // Another number of threads is another order.
  const bool isOfOrder = std::holds_alternative<domain::Unstable>(evaluation) &&
                         std::any_of(graph.outputs.begin(), graph.outputs.end(), [&graph](const auto& output) {
                           return dependsOn(graph, output.value, multipliesMany);
                         });
  return {
      isOfOrder ? std::string(kInexact) : std::string(domain::statusName(evaluation)), domain::summary(evaluation), {}};
}

}  // namespace

bool Judge::start() {
  m_process =
      std::make_unique<testing::WorkerProcess>(m_worker, std::vector<std::string>{"--device", "cpu", "--threads", "2"});
  m_process->send(wire::Hello{wire::kProtocolVersion, "swage-fuzz", {}});
  while (const auto message = m_process->receive(kLimit)) {
    if (std::holds_alternative<wire::WorkerReady>(*message)) {
      return true;
    }
  }
  m_process.reset();
  return false;
}

std::string Judge::load(const FuzzCase& which) {
  m_task = wire::LoadTask();
  m_task.task.name = "fuzz";
  m_task.task.graph = which.graph;
  m_task.task.inputGenerator = which.generator;
  m_task.baseSeed = which.seed;
  m_task.checkSeeds = kSeeds;
  m_task.timingBudgetSeconds = 0.0;
  m_task.timeEager = false;
  m_isLoaded = false;
  return loadAgain();
}

std::string Judge::loadAgain() {
  if (!m_process && !start()) {
    return "no worker";
  }
  m_process->send(m_task);
  const auto answer = m_process->receive(kLimit);
  if (!answer) {
    m_process.reset();
    return "the worker ended while it loaded the graph";
  }
  if (const auto* refused = std::get_if<wire::TaskRefused>(&*answer)) {
    return refused->message;
  }
  m_isLoaded = std::holds_alternative<wire::TaskReady>(*answer);
  return m_isLoaded ? std::string() : "the worker gave another answer";
}

std::optional<Finding> Judge::judge(const domain::LaunchPlan& plan, const std::string& binary) {
  if (!m_process || !m_isLoaded) {
    if (const std::string refusal = loadAgain(); !refusal.empty()) {
      return Finding{"worker", refusal, {}};
    }
  }
  wire::Evaluate request;
  request.request = ++m_request;
  request.plan = plan;
  request.binary = binary;
  request.verifyOnly = true;
  m_process->send(request);
  const auto answer = m_process->receive(kLimit);
  const auto* evaluated = answer ? std::get_if<wire::Evaluated>(&*answer) : nullptr;
  if (evaluated == nullptr) {
    m_process.reset();
    m_isLoaded = false;
    return Finding{"crash", "the worker ended, or did not answer, while it ran the candidate", {}};
  }
  if (evaluated->workerExits) {
    m_process.reset();
    m_isLoaded = false;
  }
  if (domain::asCorrect(evaluated->evaluation) != nullptr) {
    return std::nullopt;
  }
  return findingOf(evaluated->evaluation, m_task.task.graph);
}

}  // namespace swage::fuzz
