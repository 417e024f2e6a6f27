// SPDX-License-Identifier: Apache-2.0
#include "tests/core/process/fakes.h"

#include <fstream>

#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/domain/json.h"

namespace swage::testing {
namespace {

constexpr int kUnfit = 7;

process::LaunchCommand fakeProgram(const char* role, const std::string& behaviour, std::vector<std::string> more) {
  process::LaunchCommand command;
  command.program = SWAGE_FAKE_WORKER;
  command.arguments = {role, behaviour};
  command.arguments.insert(command.arguments.end(), more.begin(), more.end());
  return command;
}

void write(const std::filesystem::path& file, const std::string& content) {
  std::ofstream stream(file, std::ios::binary);
  stream << content;
  SWAGE_ASSERT(stream.good());
}

domain::LaunchPlan planOf(const domain::Graph& graph) {
  domain::LaunchPlan plan;
  plan.buffers = graph.values;
  plan.inputs = {graph.inputs[0].value};
  plan.outputs = {graph.outputs[0].value};
  return plan;
}

}  // namespace

process::LaunchCommand fakeWorker(const std::string& behaviour, std::vector<std::string> more) {
  return fakeProgram("worker", behaviour, std::move(more));
}

process::LaunchCommand fakeCompiler(const std::string& behaviour, std::vector<std::string> more) {
  return fakeProgram("compiler", behaviour, std::move(more));
}

domain::Task tinyTask() {
  domain::Task task;
  task.name = "tiny";
  task.source.file = "tiny.py";
  task.source.className = "Model";
  task.source.sha256 = std::string(64, '0');
  task.torchVersion = "2.11.0";
  task.graph.values = {domain::contiguousTensor(domain::ScalarType::Float32, {4, 4}),
                       domain::contiguousTensor(domain::ScalarType::Float32, {4, 4})};
  task.graph.inputs = {{domain::ValueId(0), domain::InputKind::User, "x"}};
  domain::Node node;
  node.op = "aten.relu.default";
  node.args = {domain::Argument{domain::ValueId(0)}};
  node.outputs = {domain::ValueId(1)};
  task.graph.nodes = {node};
  task.graph.outputs = {{domain::ValueId(1), domain::OutputKind::User, ""}};
  task.inputGenerator.values = {domain::contiguousTensor(domain::ScalarType::Float32, {4, 4})};
  domain::Node random;
  random.op = "aten.randn.default";
  random.args = {
      domain::Argument{domain::ArgumentList{domain::Argument{std::int64_t{4}}, domain::Argument{std::int64_t{4}}}}};
  random.outputs = {domain::ValueId(0)};
  task.inputGenerator.nodes = {random};
  task.inputGenerator.outputs = {{domain::ValueId(0), domain::OutputKind::User, ""}};
  return task;
}

std::filesystem::path writeTinyBundle(const std::filesystem::path& folder) {
  const std::filesystem::path bundle = folder / "tiny.swage";
  std::filesystem::create_directories(bundle);
  write(bundle / "task.json", domain::toJson(tinyTask()).dump());
  write(bundle / "weights.safetensors", std::string("\x02\0\0\0\0\0\0\0{}", 10));
  write(bundle / "source.py", "# tiny\n");
  return bundle;
}

domain::LaunchPlan planWithNumber(int number) {
  domain::LaunchPlan plan = planOf(tinyTask().graph);
  domain::KernelStep step;
  step.entry = "tiny_kernel";
  step.arguments = {domain::Int32{number}, domain::ValueId(0), domain::ValueId(1)};
  plan.steps = {step};
  return plan;
}

domain::Genome FakeSynthesizer::genomeOf(int number, int tag) {
  domain::RegionGene region;
  region.nodes = {0};
  region.pattern = "fake";
  region.parameters = {{"n", number}, {"tag", tag}};
  return {{region}};
}

domain::Genome FakeSynthesizer::fresh(Random& random) const {
  return genomeOf(1 + static_cast<int>(random.below(static_cast<std::size_t>(m_size))),
                  static_cast<int>(random.below(2)));
}

std::vector<domain::Genome> FakeSynthesizer::seeds() const {
  return {genomeOf(m_size, 0), genomeOf(m_size, 1)};
}

std::optional<domain::Genome> FakeSynthesizer::vary(domain::OperatorKind, const domain::Genome&, const domain::Genome*,
                                                    const domain::Cell*, Random& random) const {
  return fresh(random);
}

std::vector<domain::Genome> FakeSynthesizer::neighbours(const domain::Genome& genome) const {
  std::vector<domain::Genome> result;
  if (genome.regions.empty()) {
    return result;
  }
  const auto n = static_cast<int>(genome.regions[0].parameters.at("n"));
  for (const int next : {n - 1, n + 1}) {
    if (next >= 1 && next <= m_size) {
      result.push_back(genomeOf(next, 0));
    }
  }
  return result;
}

std::vector<double> FakeSynthesizer::features(const domain::Genome& genome) const {
  return {genome.regions.empty() ? 0.0 : static_cast<double>(genome.regions[0].parameters.at("n"))};
}

Result<domain::Program> FakeSynthesizer::realise(const domain::Genome& genome) const {
  domain::Program program;
  program.language = domain::standardLanguage(m_device);
  if (genome.regions.empty()) {
    program.plan = planOf(tinyTask().graph);
    program.plan.steps = {domain::AtenStep{tinyTask().graph.nodes[0]}};
    return program;
  }
  const auto number = static_cast<int>(genome.regions[0].parameters.at("n"));
  if (number == kUnfit) {
    return Error(ErrorKind::InvalidInput, "7 does not fit");
  }
  program.plan = planWithNumber(number);
  program.source = fmt::format("kernel {}", number);
  return program;
}

}  // namespace swage::testing
