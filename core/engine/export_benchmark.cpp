// SPDX-License-Identifier: Apache-2.0
#include "core/engine/export_benchmark.h"

#include <QTimer>

#include <utility>

#include <fmt/format.h>

#include "core/base/files.h"
#include "core/export/modelnew.h"

namespace swage::engine {
namespace {

using domain::DeviceKind;
using domain::ValueId;

constexpr std::chrono::minutes kProbeLimit{2};
constexpr std::chrono::minutes kMeasureLimit{10};  // torch.compile may have to compile its runtime first
constexpr int kElements = 1024;

constexpr const char* kModule = R"(import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x)
)";

constexpr const char* kCpuKernel = R"(extern "C" void relu_kernel(void** arguments) {
  const float* x = *static_cast<const float**>(arguments[0]);
  float* out = *static_cast<float**>(arguments[1]);
  for (int i = 0; i < 1024; ++i) {
    out[i] = x[i] > 0.0f ? x[i] : 0.0f;
  }
}
)";

constexpr const char* kCudaKernel = R"(extern "C" __global__ void relu_kernel(const float* x, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 1024) {
    out[i] = x[i] > 0.0f ? x[i] : 0.0f;
  }
}
)";

exporting::ModelNewInput exportOf(DeviceKind target, std::string binary, int computeCapability) {
  const bool isCpu = target == DeviceKind::Cpu;
  const domain::TensorType tensor = domain::contiguousTensor(domain::ScalarType::Float32, {kElements});
  exporting::ModelNewInput input;
  input.task.name = "relu";
  input.task.source.file = "relu.py";
  input.task.source.className = "Model";
  input.taskSource = kModule;
  input.task.graph.values = {tensor, tensor};
  input.task.graph.inputs = {{ValueId(0), domain::InputKind::User, "x"}};
  input.task.graph.outputs = {{ValueId(1), domain::OutputKind::User, ""}};
  domain::KernelStep step;
  step.entry = "relu_kernel";
  step.grid.x = isCpu ? 1 : 4;
  step.block.x = isCpu ? 1 : 256;
  step.arguments = {ValueId(0), ValueId(1)};
  input.program.language = domain::standardLanguage(target);
  input.program.source = isCpu ? kCpuKernel : kCudaKernel;
  input.program.plan.buffers = {tensor, tensor};
  input.program.plan.inputs = {ValueId(0)};
  input.program.plan.outputs = {ValueId(1)};
  input.program.plan.steps = {step};
  input.device.kind = target;
  input.device.computeCapability = computeCapability;
  input.binary = std::move(binary);
  return input;
}

std::optional<ExportBenchmark::Cost> costFrom(const nlohmann::json& json) {
  if (!json.is_object() || !json.contains("guard_us")) {
    return std::nullopt;
  }
  return ExportBenchmark::Cost{json.value("call_us", 0.0), json.value("launch_us", 0.0), json.value("guard_us", 0.0)};
}

}  // namespace

Result<ExportBenchmark::DeviceReport> exportCostFrom(const nlohmann::json& document) {
  const auto part = [&](const char* name) {
    return document.is_object() ? document.value(name, nlohmann::json()) : nlohmann::json();
  };
  const std::optional<ExportBenchmark::Cost> eager = costFrom(part("eager"));
  if (!eager) {
    return Error(ErrorKind::Protocol, "the bridge's bench-export document has no times");
  }
  ExportBenchmark::DeviceReport report;
  report.device = document.value("device", std::string());
  report.calls = document.value("calls", 0);
  report.eager = *eager;
  report.compiled = costFrom(part("compiled"));
  report.graph = costFrom(part("graph"));
  if (!report.compiled && part("compiled").is_object()) {
    report.compiledFailure = part("compiled").value("failure", std::string());
  }
  return report;
}

bool ExportBenchmark::DeviceReport::keepsLimit() const {
  return eager.keepsLimit() && (!compiled || compiled->keepsLimit()) && (!graph || graph->keepsLimit());
}

ExportBenchmark::ExportBenchmark(const process::Programs& programs, Options options, QObject* parent)
    : QObject(parent), m_programs(programs), m_options(std::move(options)) {}

ExportBenchmark::~ExportBenchmark() = default;

void ExportBenchmark::start() {
  QTimer::singleShot(0, this, [this] {
    if (const Result<> chosen = chooseDevices(); !chosen) {
      conclude(chosen.error());
    } else {
      next();
    }
  });
}

Result<> ExportBenchmark::chooseDevices() {
  if (!m_folder.isValid()) {
    return Error(ErrorKind::Storage,
                 fmt::format("cannot make a folder for the benchmark: {}", m_folder.errorString().toStdString()));
  }
  const bool hasDriver = m_programs.driver() == process::DriverState::Loaded;
  if (m_options.target == "cuda" && !hasDriver) {
    return Error(ErrorKind::Environment, "the target cuda needs an NVIDIA driver, and none is loaded",
                 "use --target cpu, or install the driver");
  }
  if (m_options.target != "cuda") {
    m_targets.push_back(DeviceKind::Cpu);
  }
  if (m_options.target != "cpu" && hasDriver) {
    m_targets.push_back(DeviceKind::Cuda);
  }
  return {};
}

void ExportBenchmark::cancel() {
  if (m_call) {
    m_call->cancel();
  } else {
    conclude(Error(ErrorKind::Cancelled, "the benchmark was cancelled"));
  }
}

void ExportBenchmark::next() {
  if (m_ended) {
    return;
  }
  if (m_targets.empty()) {
    conclude(std::nullopt);
  } else if (m_targets.front() == DeviceKind::Cpu) {
    measure(DeviceKind::Cpu, {});
  } else {
    call({"probe"}, &ExportBenchmark::handleProbe);
  }
}

void ExportBenchmark::call(std::vector<std::string> arguments,
                           void (ExportBenchmark::*then)(const Result<nlohmann::json>&)) {
  const bool isProbe = arguments.front() == "probe";
  m_call = std::make_unique<process::BridgeCall>(m_programs.bridge, std::move(arguments),
                                                 isProbe ? kProbeLimit : kMeasureLimit);
  connect(m_call.get(), &process::BridgeCall::finished, this, then);
  m_call->start();
}

// What PyTorch says of its first device decides for which one the kernel is compiled.
void ExportBenchmark::handleProbe(const Result<nlohmann::json>& document) {
  if (!document) {
    conclude(document.error());
    return;
  }
  const nlohmann::json devices =
      document->value(nlohmann::json::json_pointer("/torch/devices"), nlohmann::json::array());
  if (!devices.is_array() || devices.empty()) {
    if (m_options.target == "cuda") {
      conclude(Error(ErrorKind::Environment, "PyTorch sees no GPU", "use --target cpu"));
      return;
    }
    m_targets.pop_front();
    QTimer::singleShot(0, this, &ExportBenchmark::next);
    return;
  }
  const auto capability = devices.front().value("capability", std::vector<int>{0, 0});
  m_computeCapability = capability.size() == 2 ? 10 * capability[0] + capability[1] : 0;
  m_compilers = std::make_unique<process::CompilerPool>(
      process::CompilerPool::Options{.command = m_programs.compilerCommand, .size = 1});
  connect(m_compilers.get(), &process::CompilerPool::compiled, this,
          [this](std::uint64_t, const domain::CompileOutcome& outcome) { handleCompiled(outcome); });
  connect(m_compilers.get(), &process::CompilerPool::failed, this, [this](const Error& error) { conclude(error); });
  m_compilers->compile(
      0, {domain::Language::CudaCpp, kCudaKernel, {"relu_kernel"}, fmt::format("sm_{}", m_computeCapability), {}});
}

void ExportBenchmark::handleCompiled(const domain::CompileOutcome& outcome) {
  if (const auto* failed = std::get_if<domain::CompileFailed>(&outcome)) {
    conclude(Error(ErrorKind::Environment, fmt::format("NVRTC cannot compile the kernel to measure: {}", failed->log)));
  } else {
    measure(DeviceKind::Cuda, std::get<domain::CompiledBinary>(outcome).bytes);
  }
}

void ExportBenchmark::measure(DeviceKind target, const std::string& binary) {
  const std::filesystem::path file =
      std::filesystem::path(m_folder.path().toStdString()) / fmt::format("relu_{}.py", domain::name(target));
  const auto write = [&]() -> Result<> {
    SWAGE_TRY_ASSIGN(const std::string text, exporting::writeModelNew(exportOf(target, binary, m_computeCapability)));
    return writeFileAtomically(file, text);
  };
  if (const Result<> written = write(); !written) {
    conclude(written.error());
    return;
  }
  call({"bench-export", file.string(), "--device", target == DeviceKind::Cpu ? "cpu" : "cuda:0", "--calls",
        std::to_string(m_options.calls)},
       &ExportBenchmark::handleMeasured);
}

void ExportBenchmark::handleMeasured(const Result<nlohmann::json>& document) {
  if (!document) {
    conclude(document.error());
    return;
  }
  const Result<DeviceReport> report = exportCostFrom(*document);
  if (!report) {
    conclude(report.error());
    return;
  }
  m_report.push_back(*report);
  m_targets.pop_front();
  QTimer::singleShot(0, this, &ExportBenchmark::next);  // we are inside the signal of what next() destroys
}

void ExportBenchmark::conclude(const std::optional<Error>& error) {
  if (!std::exchange(m_ended, true)) {
    Q_EMIT finished(error ? Result<Report>(*error) : Result<Report>(m_report));
  }
}

}  // namespace swage::engine
