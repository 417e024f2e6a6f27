// SPDX-License-Identifier: Apache-2.0
#include "tests/ui/demo_export.h"

#include <filesystem>

#include "core/base/files.h"

namespace swage::testing {
namespace {

using services::ExportFile;
using services::ExportFormat;
using services::ExportGate;
using Kind = ExportGate::Kind;
using State = ExportGate::State;

domain::OutputError errorOf(double relativeL2, double eager) {
  domain::OutputError error;
  error.relativeL2 = relativeL2;
  error.eagerRelativeL2 = eager;
  return error;
}

domain::PairedTiming demoTiming() {
  domain::PairedTiming timing;
  timing.candidate.samples = 120;
  timing.candidate.medianNs = 27.4e3;
  timing.candidate.lowNs = 27.1e3;
  timing.candidate.highNs = 27.9e3;
  timing.eager.medianNs = 63.3e3;
  timing.speedup = 2.31;
  timing.speedupLow = 2.27;
  timing.speedupHigh = 2.34;
  return timing;
}

ExportFile fileOf(const std::string& name) {
  const std::filesystem::path data(SWAGE_EXPORT_DATA);
  const bool isModule = name.ends_with("modelnew.py") && !name.starts_with("test");
  const auto text = readTextFile(isModule ? data / "relu_modelnew.py" : data / "relu_project" / name);
  return {name, text.value_or("the golden file is missing\n")};
}

services::ExportFiles filesOf(domain::CandidateId candidate, ExportFormat format) {
  if (format == ExportFormat::ModelNew) {
    ExportFile file = fileOf("modelnew.py");
    file.name = "softmax_rows_new.py";
    return {candidate, format, "softmax_rows_new.py", {file}};
  }
  services::ExportFiles files{candidate, format, "softmax_rows_new", {}};
  for (const char* name : {"README.md", "modelnew.py", "kernels.cpp", "launch_plan.json", "original.py",
                           "test_modelnew.py", "benchmark.py", "provenance.json"}) {
    files.files.push_back(fileOf(name));
  }
  return files;
}

}  // namespace

std::vector<ExportGate> demoGates() {
  std::vector<ExportGate> gates(7);
  gates[0] = {.kind = Kind::Verified, .state = State::Passed, .checks = 5, .worst = errorOf(1.2e-7, 1.3e-7)};
  gates[1] = {.kind = Kind::HardInputs, .state = State::Passed, .checks = 8, .worst = errorOf(3.4e-6, 4.1e-6)};
  gates[2] = {.kind = Kind::HeldBackSeeds, .state = State::Passed, .checks = 3, .worst = errorOf(1.2e-7, 1.3e-7)};
  gates[3] = {.kind = Kind::Sanitizer, .state = State::NotRun};
  gates[3].detail = "compute-sanitizer is not installed; the CUDA toolkit brings it";
  gates[4] = {.kind = Kind::FreshProcess, .state = State::NotRun};
  gates[5] = {.kind = Kind::Faster, .state = State::Passed, .checks = 120};
  gates[5].timing = demoTiming();
  gates[5].speedup = {1.5, 1.46, 1.54};
  gates[5].baselineMode = "compile";
  gates[5].overEager = {2.31, 2.27, 2.34};
  gates[5].detail = "fastest baseline: compile, 41.2 us (40.9 to 41.6)";
  gates[6] = {.kind = Kind::HeldOutShapes, .state = State::Failed};
  gates[6].detail = "shape-specific: a batch of 1 (4096 -> 1): correct; odd sizes (4096 -> 4093): output 0 (error)";
  return gates;
}

std::vector<ExportGate> demoPassedGates() {
  std::vector<ExportGate> gates = demoGates();
  gates[3] = {.kind = Kind::Sanitizer, .state = State::Passed, .checks = 3};
  gates[4] = {.kind = Kind::FreshProcess, .state = State::Passed};
  gates[4].detail = "27.6 us (27.3 to 28); recorded 27.4 us (27.1 to 27.9)";
  gates[6] = {.kind = Kind::HeldOutShapes, .state = State::Passed};
  gates[6].detail = "a batch of 1 (4096 -> 1): correct; odd sizes (4096 -> 4093): correct";
  return gates;
}

std::vector<ExportGate> demoWrongGates() {
  std::vector<ExportGate> gates = demoGates();
  gates[0] = {.kind = Kind::Verified, .state = State::Failed};
  gates[0].detail = "wrong: output 0, element 17: expected 0.25, got 0 (error)";
  gates[1].state = gates[2].state = State::NotRun;
  gates[1].checks = gates[2].checks = 0;
  gates[1].worst = gates[2].worst = std::nullopt;
  gates[4].state = State::Failed;
  gates[4].detail = "in a fresh process it is not correct: output 0, element 17: expected 0.25, got 0 (error)";
  gates[5] = {.kind = Kind::Faster, .state = State::NotRun};
  return gates;
}

void fillDemoExport(FakeExportService& exporter) {
  exporter.factRows.taskName = "softmax_rows";
  exporter.factRows.gates = demoGates();
  exporter.factRows.provenance = {
      {"task", "softmax_rows (class Model of softmax_rows.py)"},
      {"task id", "9f2c4be01d5a77a3"},
      {"run", "7"},
      {"candidate", "212"},
      {"lineage", "made by crossover from 180, 197; before them 121, 64, 12"},
      {"seed", "1"},
      {"cell", "A2 B1 C0"},
      {"speedup", "1.50x (1.46 to 1.54) against the fastest baseline (compile), 2.31x (2.27 to 2.34) against eager"},
      {"measured", "27.4 us (27.1 to 27.9) on NVIDIA H200; eager (interleaved) 63.3 us (62.9 to 63.8)"},
      {"error", "relative L2 1.2e-07 (eager 1.3e-07), class fp32"},
      {"device", "NVIDIA H200 (sm_90a, driver 580.65.06)"},
      {"verified with", "PyTorch 2.11.0"},
      {"compiled by", "Cuda compilation tools, release 13.0, V13.0.88"},
      {"written by", "Swage 0.1.0"},
      {"baseline", "eager 63.3 us (62.9 to 63.8), class fp32, PyTorch 2.11.0"},
      {"baseline", "compile 41.2 us (40.9 to 41.6), class fp32, PyTorch 2.11.0"},
      {"checked", "unseen seeds passed: 3 seeds that no other check used"}};
  exporter.makeFiles = filesOf;
}

}  // namespace swage::testing
