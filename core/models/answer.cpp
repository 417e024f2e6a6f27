// SPDX-License-Identifier: Apache-2.0
#include "core/models/answer.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "core/domain/json_reader.h"
#include "core/models/clean_text.h"
#include "core/models/prompt.h"

namespace swage::models {
namespace {

using domain::Json;
using domain::JsonReader;

constexpr std::size_t kMostOfSource = std::size_t{256} << 10U;
constexpr std::size_t kMostOfPlan = std::size_t{256} << 10U;
constexpr std::size_t kMostSteps = 256;
constexpr std::size_t kMostScratch = 64;
constexpr std::size_t kMostSizes = 8;
constexpr std::int64_t kMostElements = std::int64_t{1} << 34U;
constexpr std::size_t kMostOfIntent = 300;

Error unusable(std::string why) {
  return Error(ErrorKind::InvalidInput, std::move(why));
}

struct Block {
  std::string tag;  // in lower case
  std::string text;
};

bool isFence(std::string_view line, std::size_t atLeast) {
  const std::size_t ticks = std::min(line.find_first_not_of('`'), line.size());
  return ticks >= atLeast;
}

// By CommonMark's rule: a block ends at a line of at least as many backticks, and nothing else.
Result<std::vector<Block>> blocksOf(std::string_view text) {
  std::vector<Block> blocks;
  std::optional<Block> open;
  std::size_t fence = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    std::string_view word = line.substr(std::min(line.find_first_not_of(' '), line.size()));
    word = word.substr(0, word.find_last_not_of(" \t") + 1);
    const bool isOnlyTicks = word.find_first_not_of('`') == std::string_view::npos;
    if (!open && isFence(word, 3)) {
      fence = std::min(word.find_first_not_of('`'), word.size());
      std::string tag(word.substr(fence));
      std::transform(tag.begin(), tag.end(), tag.begin(),
                     [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
      tag.erase(0, std::min(tag.find_first_not_of(' '), tag.size()));
      open = Block{std::move(tag), {}};
    } else if (open && isOnlyTicks && isFence(word, fence)) {
      blocks.push_back(std::move(*open));
      open.reset();
    } else if (open) {
      open->text.append(line).append("\n");
    }
  }
  if (open) {
    return unusable("its last fenced block has no end");
  }
  return blocks;
}

bool isSourceTag(std::string_view tag, domain::Language language) {
  constexpr std::array<std::string_view, 3> kCpp{"cpp", "c++", "cxx"};
  constexpr std::array<std::string_view, 4> kCuda{"cuda", "cu", "cuda-cpp", "cpp"};
  return language == domain::Language::Cpp       ? std::find(kCpp.begin(), kCpp.end(), tag) != kCpp.end()
         : language == domain::Language::CudaCpp ? std::find(kCuda.begin(), kCuda.end(), tag) != kCuda.end()
                                                 : tag == fenceTag(language);
}

void allowOnly(const JsonReader& reader, std::initializer_list<std::string_view> names) {
  reader.eachMember([&](const std::string& name, const JsonReader& member) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      member.fail("is not a member that a plan has");
    }
  });
}

domain::ValueId readTensor(const JsonReader& reader, std::size_t count) {
  return domain::ValueId(reader.smallInteger(0, static_cast<int>(count) - 1));
}

domain::KernelArgument readArgument(const JsonReader& reader, std::size_t count) {
  if (reader.json().is_number_integer()) {
    return readTensor(reader, count);
  }
  if (reader.json().is_object() && reader.json().size() == 1) {
    const std::string& key = reader.json().begin().key();
    if (key == "i32") {
      return domain::Int32{reader[key].smallInteger()};
    }
    if (key == "i64") {
      return reader[key].integer();
    }
    if (key == "f32") {
      return static_cast<float>(reader[key].number());
    }
    if (key == "f64") {
      return reader[key].number();
    }
  }
  reader.fail("must be the number of a tensor, or have one member: i32, i64, f32 or f64");
  return domain::ValueId();
}

domain::Dim3 readExtent(const JsonReader& reader, std::string_view name) {
  if (!reader.has(name)) {
    return {};
  }
  const auto sizes = reader[name].list(
      [](const JsonReader& item) { return item.integer(1, std::numeric_limits<std::uint32_t>::max()); }, 3);
  if (sizes.size() != 3) {
    reader[name].fail("must be three numbers");
    return {};
  }
  return {static_cast<std::uint32_t>(sizes[0]), static_cast<std::uint32_t>(sizes[1]),
          static_cast<std::uint32_t>(sizes[2])};
}

domain::KernelStep readKernel(const JsonReader& reader, std::size_t count, bool hasGeometry) {
  if (hasGeometry) {
    allowOnly(reader, {"kernel", "arguments", "grid", "block", "cluster", "shared", "cooperative"});
  } else {
    allowOnly(reader, {"kernel", "arguments"});
  }
  constexpr std::size_t kMostArguments = 1024;
  domain::KernelStep step;
  step.entry = reader["kernel"].text(200);
  step.arguments =
      reader["arguments"].list([count](const JsonReader& item) { return readArgument(item, count); }, kMostArguments);
  step.grid = readExtent(reader, "grid");
  step.block = readExtent(reader, "block");
  step.cluster = readExtent(reader, "cluster");
  step.dynamicSharedBytes = reader.has("shared") ? static_cast<std::uint32_t>(reader["shared"].smallInteger(0)) : 0;
  step.cooperative = reader.has("cooperative") && reader["cooperative"].boolean();
  return step;
}

domain::PlanStep readStep(const JsonReader& reader, const domain::Graph& graph, std::size_t count, bool hasGeometry) {
  if (reader.has("kernel")) {
    return readKernel(reader, count, hasGeometry);
  }
  if (reader.has("zero")) {
    allowOnly(reader, {"zero"});
    return domain::ZeroStep{readTensor(reader["zero"], count)};
  }
  if (reader.has("node") && !graph.nodes.empty()) {
    allowOnly(reader, {"node"});
    const int node = reader["node"].smallInteger(0, static_cast<int>(graph.nodes.size()) - 1);
    return domain::AtenStep{graph.nodes[static_cast<std::size_t>(node)]};
  }
  reader.fail("must be a kernel, a zero or a node");
  return domain::ZeroStep{};
}

domain::TensorType readScratch(const JsonReader& reader) {
  allowOnly(reader, {"dtype", "shape"});
  const auto dtype = reader["dtype"].word(domain::parseScalarType);
  domain::Shape shape =
      reader["shape"].list([](const JsonReader& item) { return item.integer(1, kMostElements); }, kMostSizes);
  std::int64_t elements = 1;
  for (const std::int64_t size : shape) {
    elements = size > kMostElements / elements ? kMostElements + 1 : elements * size;
    if (elements > kMostElements) {
      reader["shape"].fail("is too large");
      return {};
    }
  }
  return domain::contiguousTensor(dtype, std::move(shape));
}

struct PlanAnswer {
  domain::LaunchPlan plan;
  std::string intent;
};

PlanAnswer readPlan(const JsonReader& reader, const domain::Graph& graph, bool hasGeometry) {
  allowOnly(reader, {"intent", "scratch", "steps"});
  PlanAnswer answer;
  answer.intent = reader.has("intent") ? cleanLine(reader["intent"].text(kMostOfPlan), kMostOfIntent) : std::string();
  domain::LaunchPlan& plan = answer.plan;
  plan.buffers = graph.values;
  if (reader.has("scratch")) {
    const auto scratch = reader["scratch"].list(readScratch, kMostScratch);
    plan.buffers.insert(plan.buffers.end(), scratch.begin(), scratch.end());
  }
  for (const domain::GraphInput& input : graph.inputs) {
    plan.inputs.push_back(input.value);
  }
  for (const domain::GraphOutput& output : graph.outputs) {
    plan.outputs.push_back(output.value);
  }
  const std::size_t count = plan.buffers.size();
  plan.steps = reader["steps"].list([&](const JsonReader& item) { return readStep(item, graph, count, hasGeometry); },
                                    kMostSteps);
  if (reader.hasFailed()) {
    return answer;
  }
  if (const std::string defect = domain::findDefect(plan); !defect.empty()) {
    reader.fail("cannot be used: " + defect);
  } else if (!plan.hasKernels()) {
    reader.fail("launches no kernel");
  }
  return answer;
}

}  // namespace

Result<Answer> readAnswer(const ChatReply& reply, domain::Language language, const domain::Graph& graph) {
  if (reply.reason == StopReason::Refused) {
    return unusable("the model refused to answer");
  }
  if (reply.reason == StopReason::Length) {
    return unusable("it was cut off, because it was too long");
  }
  SWAGE_TRY_ASSIGN(const std::vector<Block> blocks, blocksOf(reply.text));
  const Block* source = nullptr;
  const Block* plan = nullptr;
  for (const Block& block : blocks) {
    const Block*& place = block.tag == "json" ? plan : source;
    if (place != nullptr || (block.tag != "json" && !isSourceTag(block.tag, language))) {
      return unusable(fmt::format("it has a fenced block too many, tagged '{}'", cleanLine(block.tag, 40)));
    }
    place = &block;
  }
  if (source == nullptr || plan == nullptr) {
    return unusable(fmt::format("it has no fenced block tagged '{}'", source == nullptr ? fenceTag(language) : "json"));
  }
  if (source->text.size() > kMostOfSource || plan->text.size() > kMostOfPlan) {
    return unusable("its source or its plan is too long");
  }
  SWAGE_TRY_ASSIGN(const Json json, domain::parseJson(plan->text));
  const bool hasGeometry = domain::factsOf(language).device != domain::DeviceKind::Cpu;
  SWAGE_TRY_ASSIGN(PlanAnswer read, domain::readJson(json, "plan", [&](const JsonReader& reader) {
                     return readPlan(reader, graph, hasGeometry);
                   }));
  return Answer{
      .program = {.language = language, .source = source->text, .plan = std::move(read.plan), .compileFlags = {}},
      .intent = std::move(read.intent)};
}

}  // namespace swage::models
