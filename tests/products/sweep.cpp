// SPDX-License-Identifier: Apache-2.0
// Evaluates many instances of one pattern for products by the real compiler and worker, on the first GPU:
//   swage-product-sweep WORKER [PATTERN] [COUNT] [CASE …]
// WORKER is the path of swage-worker. Of each case, the standard instance and COUNT - 1 random neighbours of the best
// so far are made. A line each: verdict, error beside PyTorch's, time, TFLOP/s and speedup against eager. Where the
// environment has SWAGE_NVRTC or SWAGE_PATTERNS, they are used instead of those of the build.
#include <csignal>
#include <cstdlib>
#include <set>

#include <fmt/format.h>

#include "core/base/random.h"
#include "core/domain/json.h"
#include "core/synth/synthesizer.h"
#include "core/toolchain/compiler.h"
#include "core/toolchain/sandbox.h"
#include "tests/app/worker/worker_process.h"
#include "tests/core/synth/graph_builder.h"

namespace swage {
namespace {

using namespace std::chrono_literals;
using domain::ScalarType;
using synth::arg;
using synth::GraphBuilder;

constexpr auto kLimit = 300s;

struct Case {
  std::string name;
  domain::Graph graph;
  double operations = 0.0;
};

Case product(const std::string& name, const std::string& equation, const std::vector<domain::Shape>& shapes,
             double operations, ScalarType type = ScalarType::Float32) {
  GraphBuilder b;
  const auto x = b.input(shapes[0], type);
  const auto y = b.input(shapes[1], type);
  const domain::Argument both{domain::ArgumentList{arg(x), arg(y)}};
  b.output(b.call("aten.einsum.default", {{equation}, both}, shapes[2], type));
  return {name, b.graph(), operations};
}

Case linear(const std::string& name, std::int64_t m, std::int64_t n, std::int64_t k,
            ScalarType type = ScalarType::Float32) {
  GraphBuilder b;
  const auto x = b.input({m, k}, type);
  const auto weight = b.input({n, k}, type);
  const auto bias = b.input({n}, type);
  b.output(b.relu(b.call("aten.linear.default", {arg(x), arg(weight), arg(bias)}, {m, n}, type)));
  return {name, b.graph(), 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k)};
}

std::vector<Case> cases() {
  const domain::Shape square{4096, 4096};
  constexpr double kSquare = 2.0 * 4096 * 4096 * 4096;
  return {linear("small-tails", 1000, 2001, 505),
          product("fp32-nn", "xz,zy->xy", {square, square, square}, kSquare),
          product("fp32-tn", "zx,zy->xy", {square, square, square}, kSquare),
          product("fp32-nt", "xz,yz->xy", {square, square, square}, kSquare),
          linear("fp32-linear-relu", 4096, 4096, 4096),
          product("fp32-batches", "bxz,bzy->bxy", {{32, 512, 1024}, {32, 1024, 2048}, {32, 512, 2048}},
                  2.0 * 32 * 512 * 1024 * 2048),
          product("fp32-short-k", "xz,zy->xy", {{16384, 64}, {64, 16384}, {16384, 16384}}, 2.0 * 16384 * 64 * 16384),
          product("fp32-long-k", "xz,zy->xy", {{512, 65536}, {65536, 512}, {512, 512}}, 2.0 * 512 * 65536 * 512),
          product("fp16-nn", "xz,zy->xy", {square, square, square}, kSquare, ScalarType::Float16),
          product("bf16-nt", "xz,yz->xy", {square, square, square}, kSquare, ScalarType::BFloat16),
          product("bf16-odd", "xz,zy->xy", {{1000, 505}, {505, 2001}, {1000, 2001}}, 2.0 * 1000 * 505 * 2001,
                  ScalarType::BFloat16)};
}

domain::Task taskOf(const Case& one) {
  domain::Task task;
  task.name = one.name;
  task.graph = one.graph;
  for (const domain::GraphInput& input : one.graph.inputs) {
    const domain::TensorType& type = one.graph.type(input.value);
    const domain::ValueId value(static_cast<std::int32_t>(task.inputGenerator.values.size()));
    task.inputGenerator.values.push_back(type);
    domain::Node node;
    node.op = "aten.randn.default";
    node.args = {synth::listArg(type.shape)};
    node.kwargs = {{"device", {domain::DeviceArgument{}}}, {"dtype", {type.dtype}}};
    node.outputs = {value};
    task.inputGenerator.nodes.push_back(node);
    task.inputGenerator.outputs.push_back({value, domain::OutputKind::User, {}});
  }
  task.id = domain::taskId(task);
  return task;
}

std::string fromEnvironment(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): there is one thread
  return value != nullptr ? value : otherwise;
}

Result<toolchain::Compiler> openCompiler() {
  toolchain::ToolchainOptions options;
  options.sandbox =
      toolchain::checkSandbox("bwrap") ? toolchain::SandboxMode::Bubblewrap : toolchain::SandboxMode::None;
  options.nvrtc = fromEnvironment("SWAGE_NVRTC", SWAGE_SWEEP_NVRTC);
  options.helperProgram = fromEnvironment("SWAGE_COMPILER", SWAGE_SWEEP_COMPILER);
  return toolchain::Compiler::open(options);
}

std::string parametersText(const domain::Genome& genome) {
  std::string text;
  for (const domain::RegionGene& gene : genome.regions) {
    for (const auto& [name, value] : gene.parameters) {
      text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
    }
  }
  return text;
}

class Sweep {
 public:
  Sweep(std::string worker, std::string pattern, std::size_t count, toolchain::Compiler compiler,
        patterns::Catalogue catalogue)
      : m_workerPath(std::move(worker)),
        m_pattern(std::move(pattern)),
        m_count(count),
        m_compiler(std::move(compiler)),
        m_catalogue(std::move(catalogue)) {}

  // False: something was not correct.
  bool run(const Case& one) {
    if (!load(one)) {
      return false;
    }
    const auto synthesizer = synth::Synthesizer::create(one.graph, m_device, m_catalogue);
    std::optional<domain::Genome> best = synthesizer ? seed(**synthesizer) : std::nullopt;
    if (!best) {
      fmt::print("{}: the pattern does not fit\n", one.name);
      return false;
    }
    Random random(1);
    std::set<std::string> seen;
    double bestNs = 0.0;
    bool isRight = true;
    domain::Genome next = *best;
    for (std::size_t i = 0; i < m_count; ++i) {
      for (int attempt = 0; attempt < 50 && !seen.insert(domain::canonicalText(next)).second; ++attempt) {
        next = neighbourOf(**synthesizer, *best, random);
      }
      const auto ns = evaluate(one, **synthesizer, next);
      isRight = isRight && ns.has_value();
      if (ns && *ns > 0.0 && (bestNs == 0.0 || *ns < bestNs)) {
        bestNs = *ns;
        best = next;
      }
    }
    fmt::print("{}: best {:.1f} TFLOP/s ({})\n", one.name, one.operations / bestNs / 1e3, parametersText(*best));
    return isRight;
  }

 private:
  // The first cut in which a region has the pattern, as whole as possible.
  [[nodiscard]] std::optional<domain::Genome> seed(const synth::Synthesizer& synthesizer) const {
    for (domain::Genome& genome : synthesizer.seeds()) {
      for (const domain::RegionGene& gene : genome.regions) {
        if (gene.pattern == m_pattern) {
          return std::move(genome);
        }
      }
    }
    return std::nullopt;
  }

  // Up to three parameters away.
  static domain::Genome neighbourOf(const synth::Synthesizer& synthesizer, const domain::Genome& from, Random& random) {
    domain::Genome genome = from;
    for (std::size_t steps = 1 + random.below(3); steps > 0; --steps) {
      if (auto varied = synthesizer.vary(domain::OperatorKind::Parameter, genome, nullptr, nullptr, random)) {
        genome = std::move(*varied);
      }
    }
    return genome;
  }

  bool load(const Case& one) {
    m_process = std::make_unique<testing::WorkerProcess>(m_workerPath, std::vector<std::string>{"--device", "cuda:0"});
    m_process->send(wire::Hello{wire::kProtocolVersion, "swage-product-sweep", {}});
    wire::LoadTask task;
    task.task = taskOf(one);
    task.baseSeed = 1000;
    task.adversarial = true;
    m_process->send(task);
    while (const auto message = m_process->receive(kLimit)) {
      if (const auto* ready = std::get_if<wire::WorkerReady>(&*message)) {
        m_device = ready->device;
      } else if (const auto* refused = std::get_if<wire::TaskRefused>(&*message)) {
        fmt::print("{}: {}\n", one.name, refused->message);
        return false;
      } else if (const auto* loaded = std::get_if<wire::TaskReady>(&*message)) {
        fmt::print("{} on {}: eager {:.4f} ms, {:.1f} TFLOP/s, error {:.2e}\n", one.name, m_device.name,
                   loaded->eager.medianNs / 1e6, one.operations / loaded->eager.medianNs / 1e3,
                   loaded->eagerErrors.empty() ? 0.0 : loaded->eagerErrors.front().relativeL2);
        return true;
      }
    }
    fmt::print("{}: the worker ended\n", one.name);
    return false;
  }

  // The time of a correct one in nanoseconds; no value: not correct.
  std::optional<double> evaluate(const Case& one, const synth::Synthesizer& synthesizer, const domain::Genome& genome) {
    const auto program = synthesizer.realise(genome);
    if (!program) {
      fmt::print("  {}: {}\n", parametersText(genome), program.error().message());
      return std::nullopt;
    }
    const domain::CompileRequest request{domain::Language::CudaCpp, program->source, program->entries(),
                                         m_device.architecture, program->compileFlags};
    const auto compiled = m_compiler.compile(request, {});
    if (const auto* failed = std::get_if<domain::CompileFailed>(&compiled)) {
      fmt::print("  {}: does not compile: {}\n", parametersText(genome), failed->log.substr(0, 2000));
      return std::nullopt;
    }
    const auto& binary = std::get<domain::CompiledBinary>(compiled);
    wire::Evaluate evaluate;
    evaluate.request = ++m_request;
    evaluate.plan = program->plan;
    evaluate.binary = binary.bytes;
    evaluate.limitSeconds = 120.0;
    m_process->send(evaluate);
    const auto answer = m_process->receive(kLimit);
    const auto* evaluated = answer ? std::get_if<wire::Evaluated>(&*answer) : nullptr;
    if (evaluated == nullptr || evaluated->workerExits) {
      fmt::print("  {}: the worker ended: {}\n", parametersText(genome),
                 evaluated != nullptr ? domain::summary(evaluated->evaluation) : "no answer");
      load(one);
      return std::nullopt;
    }
    return report(one, genome, domain::classify(binary.kernels, program->plan.launchCount()).name(),
                  evaluated->evaluation);
  }

  static std::optional<double> report(const Case& one, const domain::Genome& genome, const std::string& cell,
                                      const domain::Evaluation& evaluation) {
    const auto* correct = domain::asCorrect(evaluation);
    if (correct == nullptr) {
      fmt::print("  {} {}: {}\n", cell, parametersText(genome), domain::summary(evaluation));
      std::fflush(stdout);
      return std::nullopt;
    }
    const double ns = correct->timing.candidate.medianNs;
    const domain::OutputError& error = correct->errors.front();
    fmt::print("  {} {:9.4f} ms {:6.1f} TFLOP/s  x{:.2f} of eager  error {:.2e} (eager {:.2e}, {})  {}\n", cell,
               ns / 1e6, one.operations / ns / 1e3, correct->timing.speedup, error.relativeL2, error.eagerRelativeL2,
               domain::name(correct->accuracy), parametersText(genome));
    std::fflush(stdout);
    return ns;
  }

  std::string m_workerPath;
  std::string m_pattern;
  std::size_t m_count;
  toolchain::Compiler m_compiler;
  patterns::Catalogue m_catalogue;
  std::unique_ptr<testing::WorkerProcess> m_process;
  domain::DeviceInfo m_device;
  std::uint64_t m_request = 0;
};

int sweep(const std::vector<std::string>& arguments) {
  auto compiler = openCompiler();
  auto catalogue = patterns::Catalogue::load(fromEnvironment("SWAGE_PATTERNS", SWAGE_SWEEP_PATTERNS));
  if (!compiler || !catalogue) {
    fmt::print(stderr, "{}\n", !compiler ? compiler.error().message() : catalogue.error().message());
    return EXIT_FAILURE;
  }
  const std::string pattern = arguments.size() > 1 ? arguments[1] : "product_mma";
  const auto count = arguments.size() > 2 ? std::strtoull(arguments[2].c_str(), nullptr, 10) : 12;
  const std::set<std::string> wanted(arguments.begin() + std::min<std::ptrdiff_t>(3, std::ssize(arguments)),
                                     arguments.end());
  Sweep sweep(arguments[0], pattern, count, std::move(*compiler), std::move(*catalogue));
  bool isRight = true;
  for (const Case& one : cases()) {
    if (wanted.empty() || wanted.contains(one.name)) {
      isRight = sweep.run(one) && isRight;
    }
  }
  return isRight ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace swage

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  if (argc < 2) {
    fmt::print(stderr, "usage: {} WORKER [PATTERN] [COUNT] [CASE …]\n", argv[0]);
    return EXIT_FAILURE;
  }
  return swage::sweep({argv + 1, argv + argc});
}
