// SPDX-License-Identifier: Apache-2.0
#include "core/verify/profile_run.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/device/profile_metrics.h"
#include "core/domain/checks.h"
#include "core/verify/plan_fit.h"
#include "core/verify/torch_failure.h"

namespace swage::verify {
namespace {

using device::DeviceFailure;
using device::DeviceStatus;

constexpr int kTimedCalls = 11;
constexpr std::size_t kMaxInstructions = 4096;  // of one kernel, those with most samples

auto launchOf(const domain::KernelStep& step) {
  return std::tie(step.entry, step.grid, step.block, step.cluster, step.dynamicSharedBytes, step.cooperative);
}

double threadsOf(const domain::KernelStep& step) {
  const auto count = [](const domain::Dim3& dim) {
    return static_cast<double>(dim.x) * static_cast<double>(dim.y) * static_cast<double>(dim.z);
  };
  return count(step.grid) * count(step.block);
}

std::string textOf(const domain::Evaluation& evaluation) {
  return domain::summary(evaluation);
}

void keepLargest(std::vector<domain::InstructionSamples>& instructions) {
  if (instructions.size() <= kMaxInstructions) {
    return;
  }
  std::stable_sort(instructions.begin(), instructions.end(),
                   [](const auto& a, const auto& b) { return a.samples > b.samples; });
  instructions.resize(kMaxInstructions);
  std::sort(instructions.begin(), instructions.end(), [](const auto& a, const auto& b) { return a.offset < b.offset; });
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

ProfileRun::ProfileRun(SessionState& state, const wire::ProfileRequest& request, const StageObserver& onStage)
    : m_state(state), m_request(request), m_onStage(onStage), m_start(std::chrono::steady_clock::now()) {}

wire::Profiled ProfileRun::run() {
  m_result.request = m_request.request;
  m_onStage("profile");
  if (!m_request.plan.hasKernels()) {
    note("the candidate has no kernel of its own: it runs PyTorch's operators");
    return std::move(m_result);
  }
  openProfiler();
  if (prepare() && fillInputs()) {
    findKernels();
    if (m_profiler && m_request.sampleLines) {
      sample();
    }
    m_result.profile.source = measure();
  }
  for (Kernel& kernel : m_kernels) {
    m_result.profile.kernels.push_back(std::move(kernel.profile));
  }
  m_result.workerExits = m_attached || m_poisoned;
  return std::move(m_result);
}

// Nothing is timed where a profiler stays; such a one counts the time, too.
domain::ProfileSource ProfileRun::measure() {
  const bool counted = m_profiler && count();
  m_profiler.reset();
  if (counted && m_attached) {
    return domain::ProfileSource::Counters;
  }
  const bool timed = !m_poisoned && time();
  return counted ? domain::ProfileSource::Counters
         : timed ? domain::ProfileSource::Activity
                 : domain::ProfileSource::Compiler;
}

// Before the module is loaded: whoever samples must see it come.
void ProfileRun::openProfiler() {
  if (!m_request.counters) {
    note("the counters were not asked for");
    return;
  }
  auto opened = m_state.device.openProfiler();
  if (!opened) {
    note(opened.error());
    return;
  }
  m_profiler = std::move(*opened);
  m_attached = m_profiler->staysInProcess();
  if (m_request.sampleLines) {
    if (const auto begun = m_profiler->beginSampling(); !begun) {
      note(begun.error());
    }
  }
}

bool ProfileRun::prepare() {
  const domain::LaunchPlan& plan = m_request.plan;
  std::string defect = domain::findDefect(plan);
  if (defect.empty()) {
    defect = findMisfit(plan, m_state.reference.graph());
  }
  if (!defect.empty()) {
    note(fmt::format("the plan cannot be run: {}", defect));
    return false;
  }
  if (plan.hasKernels()) {
    auto module = m_state.device.loadModule(m_request.binary);
    if (!module) {
      refuse(module.error(), "loading the binary");
      return false;
    }
    m_module = std::move(*module);
  }
  auto program = PlanProgram::bind(plan, m_state.device, m_module.get(), m_state.operators, m_state.where);
  if (!program) {
    note(fmt::format("the plan cannot be run: {}", textOf(program.error())));
    return false;
  }
  m_program.emplace(std::move(*program));
  return true;
}

// Also runs the plan once as it is: what fails does so before anything is measured.
bool ProfileRun::fillInputs() {
  const auto thrown = attempt([&] { m_inputs = &m_state.fillWorking(0, m_state.pristine(0)); });
  if (thrown) {
    refuse({thrown->message, thrown->poisoned}, "drawing the inputs");
    return false;
  }
  DeviceStatus failed = runPlan(nullptr);
  if (!failed) {
    failed = m_state.device.synchronize();
  }
  if (failed) {
    refuse(*failed, "running the plan");
  }
  return !failed;
}

void ProfileRun::findKernels() {
  const auto& steps = m_request.plan.steps;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto* step = std::get_if<domain::KernelStep>(&steps[i]);
    if (step == nullptr) {
      continue;
    }
    const auto same = std::find_if(m_kernels.begin(), m_kernels.end(), [&](const Kernel& kernel) {
      return launchOf(std::get<domain::KernelStep>(steps[kernel.step])) == launchOf(*step);
    });
    if (same != m_kernels.end()) {
      ++same->profile.launches;
      continue;
    }
    Kernel& kernel = m_kernels.emplace_back();
    kernel.step = i;
    kernel.threads = threadsOf(*step);
    kernel.profile.entry = step->entry;
    describe(kernel);
  }
}

void ProfileRun::describe(Kernel& kernel) const {
  const auto resources = m_program->resourcesOf(kernel.step);
  if (!resources) {
    return;
  }
  const device::Occupancy& occupancy = resources->occupancy;
  domain::KernelProfile& profile = kernel.profile;
  profile.registers = resources->registers;
  profile.spillBytes = static_cast<int>(resources->localBytes);
  profile.sharedBytes = resources->staticSharedBytes + resources->dynamicSharedBytes;
  profile.theoreticalOccupancy = occupancy.theoretical;
  profile.occupancyLimiter = occupancy.limiter;
  profile.metrics = device::launchMetrics(*resources);
}

std::vector<ProfileRun::Kernel*> ProfileRun::heaviestFirst() {
  std::vector<Kernel*> all;
  std::transform(m_kernels.begin(), m_kernels.end(), std::back_inserter(all), [](Kernel& kernel) { return &kernel; });
  std::stable_sort(all.begin(), all.end(), [](const Kernel* a, const Kernel* b) {
    return std::tie(a->found, a->threads) > std::tie(b->found, b->threads);
  });
  return all;
}

void ProfileRun::sample() {
  for (Kernel* const each : heaviestFirst()) {
    Kernel& kernel = *each;
    if (isTimeOver()) {
      note("the time for the profile ended before all kernels were sampled");
      return;
    }
    auto report = m_profiler->samples(programFor(kernel.step), kernel.profile.entry, m_request.binary);
    if (!report) {
      note(report.error());
      return;
    }
    const bool hasText = std::any_of(report->instructions.begin(), report->instructions.end(),
                                     [](const domain::InstructionSamples& at) { return !at.text.empty(); });
    if (!report->instructions.empty() && !hasText && m_attached) {  // the engine has a CPU's listing
      note("the samples are without instructions: no nvdisasm was found; a CUDA toolkit or Triton brings one");
    }
    for (const domain::InstructionSamples& at : report->instructions) {
      kernel.found += at.samples;
    }
    keepLargest(report->instructions);
    kernel.profile.instructions = std::move(report->instructions);
    std::vector<domain::ProfileMetric>& metrics = kernel.profile.metrics;
    metrics.insert(metrics.end(), report->values.begin(), report->values.end());
  }
}

bool ProfileRun::count() {
  bool counted = false;
  for (Kernel* const each : heaviestFirst()) {
    Kernel& kernel = *each;
    if (isTimeOver()) {
      note("the time for the profile ended before the counters of all kernels were read");
      return counted;
    }
    const auto report = m_profiler->counters(programFor(kernel.step));
    if (!report) {
      note(report.error());
      return counted;
    }
    if (report->missing) {
      note(*report->missing);
    } else {
      if (!counted && !report->unknown.empty()) {
        note(fmt::format("this chip does not count {}", fmt::join(report->unknown, ", ")));
      }
      counted = true;
    }
    for (const domain::ProfileMetric& metric : report->values) {
      kernel.profile.metrics.push_back(metric);
      if (metric.name == "gpu__time_duration.sum") {
        kernel.profile.durationNs = metric.value;
      }
    }
  }
  return counted;
}

bool ProfileRun::time() {
  for (Kernel& kernel : m_kernels) {
    std::vector<double> samples;
    for (int call = 0; call < kTimedCalls && !isTimeOver(); ++call) {
      const DeviceStatus failed = runPlan([&](std::size_t step, const device::Device::Call& launch) -> DeviceStatus {
        if (step != kernel.step) {
          return launch();
        }
        const auto time = m_state.device.timeCold(launch);
        if (!time) {
          return time.error();
        }
        samples.push_back(time->ns);
        return std::nullopt;
      });
      if (failed) {
        refuse(*failed, "timing the kernels");
        return false;
      }
    }
    if (samples.empty()) {
      note("the time for the profile ended before all kernels were timed");
      return false;
    }
    kernel.profile.durationNs = median(std::move(samples));
  }
  return !m_kernels.empty();
}

DeviceStatus ProfileRun::runPlan(const PlanProgram::LaunchObserver& observer) {
  const auto outputs = m_program->runObserved(m_inputs->tensors(), observer);
  if (outputs) {
    return std::nullopt;
  }
  const StepFailure& failed = outputs.error();
  return DeviceFailure{fmt::format("{}: {}", failed.step, failed.failure.detail), failed.failure.poisoned};
}

device::Profiler::Program ProfileRun::programFor(std::size_t step) {
  return [this, step](const device::Profiler::Bracket& bracket) {
    return runPlan([&](std::size_t current, const device::Device::Call& launch) {
      return current == step ? bracket(launch) : launch();
    });
  };
}

void ProfileRun::note(const std::string& text) {
  std::string& limitation = m_result.profile.limitation;
  if (limitation.find(text) == std::string::npos) {
    limitation += (limitation.empty() ? "" : "; ") + text;
  }
}

void ProfileRun::note(const device::ProfilerFailure& failure) {
  m_poisoned = m_poisoned || failure.poisoned;
  note(failure.fix.empty() ? failure.cause : fmt::format("{}. {}", failure.cause, failure.fix));
}

void ProfileRun::refuse(const DeviceFailure& failure, std::string_view doing) {
  m_poisoned = m_poisoned || failure.poisoned;
  note(fmt::format("{}: {}", doing, failure.detail));
}

bool ProfileRun::isTimeOver() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - m_start).count() > m_request.limitSeconds;
}

}  // namespace swage::verify
