// SPDX-License-Identifier: Apache-2.0
// Profiles kernels whose counters are known, or only launches them, for another profiler to look at:
//   swage_profile_probe profile    what Swage's profiler says, as JSON: samples, then counters
//   swage_profile_probe counters   the counters alone
//   swage_profile_probe samples    the samples alone
//   swage_profile_probe launch     launches each kernel once
// compare_with_ncu.py puts the two side by side. Needs a GPU, NVRTC and CUPTI; no PyTorch.
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "core/base/log.h"
#include "core/device/open_device.h"
#include "core/device/profile_metrics.h"
#include "core/domain/json.h"
#include "tests/core/device/gpu_kernels.h"

namespace {

using namespace swage;
using swage::testing::ProbeKernel;

void say(const std::string& text) {
  std::fprintf(stderr, "%s\n", text.c_str());
}

int failWith(const std::string& text) {
  say("FAILED: " + text);
  return 1;
}

struct Probe {
  device::Device& device;
  device::KernelModule& module;
  std::string cubin;
  testing::DeviceArray in{sizeof(float) * testing::kProbeElements};
  testing::DeviceArray out{sizeof(float) * testing::kProbeElements};
};

device::DeviceStatus launch(const Probe& probe, device::Kernel& kernel) {
  void* in = probe.in.address();
  void* out = probe.out.address();
  std::vector<void*> arguments = {static_cast<void*>(&in), static_cast<void*>(&out)};
  return kernel.launch(arguments.data());
}

void addSamples(domain::KernelProfile& profile, device::Profiler& profiler, const device::Profiler::Program& program,
                const std::string& cubin) {
  auto samples = profiler.samples(program, profile.entry, cubin);
  if (!samples) {
    say(fmt::format("{}: NO SAMPLES: {} | {}", profile.entry, samples.error().cause, samples.error().fix));
    return;
  }
  say(fmt::format("{}: {} samples at {} instructions, {} dropped", profile.entry, samples->samples,
                  samples->instructions.size(), samples->dropped));
  for (const domain::InstructionSamples& at : samples->instructions) {
    std::string stalls;
    for (const domain::ProfileMetric& stall : at.stalls) {
      stalls += fmt::format(" {}={}", stall.name, stall.value);
    }
    say(fmt::format("  {:#06x} line {:3} {:6} {:50} {}", at.offset, at.line, at.samples, at.text, stalls));
  }
  profile.instructions = std::move(samples->instructions);
}

bool addCounters(domain::KernelProfile& profile, device::Profiler& profiler, const device::Profiler::Program& program) {
  const auto report = profiler.counters(program);
  if (!report) {
    say(fmt::format("{}: NO COUNTERS: {} | {}", profile.entry, report.error().cause, report.error().fix));
    return false;
  }
  say(fmt::format("{}: {} metrics in {} passes; unknown: {}", profile.entry, report->values.size(), report->passes,
                  fmt::join(report->unknown, ", ")));
  for (const domain::ProfileMetric& metric : report->values) {
    say(fmt::format("  {:75} {:.6g}", metric.name, metric.value));
    if (metric.name == "gpu__time_duration.sum") {
      profile.durationNs = metric.value;
    }
  }
  profile.metrics.insert(profile.metrics.end(), report->values.begin(), report->values.end());
  return true;
}

domain::KernelProfile describe(const ProbeKernel& kernel, const device::Kernel& bound) {
  domain::KernelProfile profile;
  profile.entry = kernel.entry;
  if (const auto resources = bound.resources()) {
    profile.registers = resources->registers;
    profile.sharedBytes = resources->staticSharedBytes + resources->dynamicSharedBytes;
    profile.theoreticalOccupancy = resources->occupancy.theoretical;
    profile.occupancyLimiter = resources->occupancy.limiter;
    profile.metrics = device::launchMetrics(*resources);
    say(fmt::format(
        "{}: {} registers, {} B shared, occupancy {:.3f} by {} (blocks: warps {}, slots {}, registers {}, "
        "shared {}; resident {})",
        kernel.entry, resources->registers, profile.sharedBytes, profile.theoreticalOccupancy, profile.occupancyLimiter,
        resources->occupancy.byWarps, resources->occupancy.byBlocks, resources->occupancy.byRegisters,
        resources->occupancy.bySharedMemory, resources->occupancy.blocks));
  }
  return profile;
}

enum class What : unsigned char { Launch, Samples, Counters, Profile };

// Samples of all kernels before counters of any: they use the same hardware.
int profileAll(const Probe& probe, device::Profiler& profiler, What what) {
  domain::Profile result;
  result.source = domain::ProfileSource::Counters;
  bool complete = true;
  for (const bool sampling : {true, false}) {
    for (std::size_t i = 0; i < std::size(testing::kProbeKernels); ++i) {
      auto kernel = probe.module.bind(testing::stepOf(testing::kProbeKernels[i]));
      if (!kernel) {
        return failWith(kernel.error().detail);
      }
      const device::Profiler::Program program = [&](const device::Profiler::Bracket& bracket) {
        return bracket([&] { return launch(probe, **kernel); });
      };
      if (sampling) {
        result.kernels.push_back(describe(testing::kProbeKernels[i], **kernel));
      }
      if (sampling && what != What::Counters) {
        addSamples(result.kernels[i], profiler, program, probe.cubin);
      } else if (!sampling && what != What::Samples) {
        complete = addCounters(result.kernels[i], profiler, program) && complete;
      }
    }
  }
  std::printf("%s\n", domain::toJson(result).dump(1).c_str());
  return complete ? 0 : 1;
}

int launchAll(const Probe& probe) {
  for (const ProbeKernel& kernel : testing::kProbeKernels) {
    auto bound = probe.module.bind(testing::stepOf(kernel));
    if (!bound) {
      return failWith(bound.error().detail);
    }
    auto failed = launch(probe, **bound);
    if (!failed) {
      failed = probe.device.synchronize();
    }
    if (failed) {
      return failWith(failed->detail);
    }
  }
  return 0;
}

int run(What what) {
  const auto device = device::openDevice(domain::DeviceKind::Cuda, 0, 1);
  if (!device) {
    return failWith(device.error().message());
  }
  const domain::DeviceInfo& info = (*device)->info();
  say(fmt::format("{} {}, driver {}", info.name, info.architecture, info.driverVersion));
  auto cubin = testing::compileCubin(testing::kProbeSource, info.architecture);
  if (!cubin) {
    return failWith(cubin.error().message());
  }
  std::unique_ptr<device::Profiler> profiler;
  if (what != What::Launch) {
    auto opened = (*device)->openProfiler();
    if (!opened) {
      return failWith(opened.error().cause + " | " + opened.error().fix);
    }
    profiler = std::move(*opened);
    const auto begun = what != What::Counters ? profiler->beginSampling() : device::ProfilerResult<void>();
    if (!begun) {
      say(fmt::format("NO SAMPLING: {} | {}", begun.error().cause, begun.error().fix));
    }
  }
  auto module = (*device)->loadModule(*cubin, {});
  if (!module) {
    return failWith(module.error().detail);
  }
  const Probe probe{**device, **module, *cubin};
  return what == What::Launch ? launchAll(probe) : profileAll(probe, *profiler, what);
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string_view, What> modes = {
      {"launch", What::Launch}, {"samples", What::Samples}, {"counters", What::Counters}, {"profile", What::Profile}};
  const auto mode = modes.find(argc == 2 ? argv[1] : "");
  if (mode == modes.end()) {
    std::fputs("usage: swage_profile_probe profile|counters|samples|launch\n", stderr);
    return 2;
  }
  log::setLevel(log::Level::Debug);
  return run(mode->second);
}
