// SPDX-License-Identifier: Apache-2.0
// swage-cell-benchmark CELL THREADS...: what an empty call of a cell costs, what starting one costs, and, for each
// number of threads, how long kernels take in a cell, in this process as PyTorch is timed, and in this process after
// nothing but a flush of the caches. In turns, on a machine that does nothing else.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <omp.h>

#include "core/device/cell.h"
#include "core/device/cpu_device.h"
#include "core/device/shared_object.h"
#include "tests/core/verify/kernel_compiler.h"

namespace {

using namespace swage;
using std::chrono::steady_clock;

constexpr int kRounds = 31;
constexpr std::int64_t kFloats = std::int64_t{4} << 20;

constexpr const char* kSource = R"(
extern "C" void compute(void** a) {
  const long rounds = *static_cast<long*>(a[2]);
  float* y = *static_cast<float**>(a[1]);
#pragma omp parallel
  {
    float v[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    for (long r = 0; r < rounds; ++r)
      for (int i = 0; i < 8; ++i) v[i] = v[i] * 0.999f + 0.001f;
#pragma omp critical
    for (int i = 0; i < 8; ++i) y[i] = v[i];
  }
}
extern "C" void barriers(void** a) {
  float* y = *static_cast<float**>(a[1]);
  const long rounds = *static_cast<long*>(a[2]);
#pragma omp parallel
  for (long r = 0; r < rounds; ++r) {
#pragma omp for
    for (long i = 0; i < 4096; ++i) y[i] = y[i] * 0.5f + 1;
  }
}
extern "C" void stream(void** a) {
  const float* x = *static_cast<const float**>(a[0]);
  float* y = *static_cast<float**>(a[1]);
  const long n = *static_cast<long*>(a[2]);
#pragma omp parallel for
  for (long i = 0; i < n; ++i) y[i] = x[i] * 2 + 1;
}
)";

double quantile(std::vector<double> values, double share) {
  const auto place = values.begin() + static_cast<std::ptrdiff_t>(static_cast<double>(values.size()) * share);
  std::nth_element(values.begin(), place, values.end());
  return *place;
}
double median(std::vector<double> values) {
  return quantile(std::move(values), 0.5);
}

// By the team, which has computed for a while afterwards: as it is where a call is timed.
void flushCaches() {
  static std::vector<unsigned char> flushed(std::size_t{256} << 20U);
  unsigned char* const bytes = flushed.data();
  const auto size = static_cast<std::int64_t>(flushed.size());
#pragma omp parallel for schedule(static)
  for (std::int64_t at = 0; at < size; at += 64) {
    bytes[at] = static_cast<unsigned char>(bytes[at] + 1);
  }
}

template <class T>
T orExit(device::DeviceResult<T> result) {
  if (!result) {
    std::fprintf(stderr, "%s\n", result.error().detail.c_str());
    std::exit(1);  // NOLINT(concurrency-mt-unsafe)
  }
  return std::move(*result);
}

// A kernel with an input, an output and a number, in a cell and here.
class Kernels {
 public:
  Kernels(const std::string& binary, int threads)
      : m_device(device::CpuDevice::create(threads)), m_object(orExit(device::SharedObject::load(binary))) {
    const domain::TensorType type = domain::contiguousTensor(domain::ScalarType::Float32, {kFloats});
    m_plan.buffers = {type, type};
    m_plan.inputs = {domain::ValueId(0)};
    m_plan.outputs = {domain::ValueId(1)};
    domain::KernelStep step;
    step.arguments = {domain::ValueId(0), domain::ValueId(1), std::int64_t{0}};
    m_plan.steps = {step};
    m_module = orExit(m_device->loadModule(binary, m_plan));
  }
  void choose(const char* name, long amount) {
    domain::KernelStep step = std::get<domain::KernelStep>(m_plan.steps.front());
    step.entry = name;
    m_kernel = orExit(m_module->bind(step));
    m_here = reinterpret_cast<void (*)(void**)>(m_object.find(name));
    m_amount = amount;
  }
  [[nodiscard]] double inCell() {
    device::KernelMemory& memory = *m_module->memory();
    const device::KernelMemory::Input input{0, m_x.get()};
    const auto time = m_device->timeColdAfter([&] { return memory.beginTimed(0, std::span(&input, 1)); },
                                              [&] { return m_kernel->launch(m_pointers); });
    memory.end();
    return orExit(time).ns;
  }
  [[nodiscard]] double here() {
    return orExit(m_device->timeColdAfter([&] { return overwriteOutput(); },
                                          [&]() -> device::DeviceStatus {
                                            m_here(m_pointers);
                                            return std::nullopt;
                                          }))
        .ns;
  }
  [[nodiscard]] double plainlyHere() {
    static_cast<void>(overwriteOutput());
    flushCaches();
    const auto begin = steady_clock::now();
    m_here(m_pointers);
    return std::chrono::duration<double, std::nano>(steady_clock::now() - begin).count();
  }

 private:
  // By all threads, as PyTorch writes a tensor: pages are near the thread that wrote to them first.
  static std::unique_ptr<float[]> written() {
    std::unique_ptr<float[]> numbers(new float[kFloats]);
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < kFloats; ++i) {
      numbers[static_cast<std::size_t>(i)] = 1.0F;
    }
    return numbers;
  }
  // As the cell's is before a call: where caches are larger than what flushes them, it may stay in them.
  [[nodiscard]] device::DeviceStatus overwriteOutput() {
    return m_device->fill(m_y.get(), 0xFF, static_cast<std::size_t>(kFloats) * sizeof(float));
  }

  std::unique_ptr<device::CpuDevice> m_device;
  device::SharedObject m_object;
  domain::LaunchPlan m_plan;
  std::unique_ptr<device::KernelModule> m_module;
  std::unique_ptr<device::Kernel> m_kernel;
  void (*m_here)(void**) = nullptr;
  std::unique_ptr<float[]> m_x = written();
  std::unique_ptr<float[]> m_y = written();
  void* m_first = m_x.get();
  void* m_second = m_y.get();
  long m_amount = 0;
  void* m_pointers[3] = {&m_first, &m_second, &m_amount};
};

void measureEmptyCalls(const char* program, const std::string& binary, int threads) {
  constexpr std::size_t kBytes = static_cast<std::size_t>(kFloats) * sizeof(float);
  const device::KernelCell::Options options{program, {{kBytes, true}, {kBytes, false}}, threads};
  std::vector<double> starts;
  for (int i = 0; i < 11; ++i) {
    const auto begin = steady_clock::now();
    const auto started = orExit(device::KernelCell::start(options, binary));
    starts.push_back(std::chrono::duration<double, std::micro>(steady_clock::now() - begin).count());
  }
  const auto cell = orExit(device::KernelCell::start(options, binary));
  std::printf("%d threads: start with two buffers of 16 MiB: %.0f us, empty call: %.0f ns (median of 2,001)\n", threads,
              median(starts), orExit(cell->timeEmptyCalls(2001)));
}

void compare(Kernels& kernels, const char* name, long amount) {
  std::vector<double> inside;
  std::vector<double> here;
  std::vector<double> plain;
  std::vector<double> ratios;
  std::vector<double> plainRatios;
  kernels.choose(name, amount);
  for (int round = -3; round < kRounds; ++round) {
    const double plainNs = kernels.plainlyHere();
    const double insideNs = kernels.inCell();
    const double hereNs = kernels.here();
    if (round >= 0) {
      plain.push_back(plainNs);
      inside.push_back(insideNs);
      here.push_back(hereNs);
      ratios.push_back(insideNs / hereNs);
      plainRatios.push_back(hereNs / plainNs);
    }
  }
  std::printf(
      "  %s %ld: %.1f us in the cell, %.4f of the %.1f us here (of the fastest quarters %.4f), which is %.4f of that "
      "after a flush alone (%.4f)\n",
      name, amount, median(inside) / 1e3, median(ratios), median(here) / 1e3,
      quantile(inside, 0.25) / quantile(here, 0.25), median(plainRatios), quantile(here, 0.25) / quantile(plain, 0.25));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string binary = testing::compileSharedObject(kSource);
  for (int at = 2; at < argc; ++at) {
    const int threads = std::atoi(argv[at]);
    omp_set_num_threads(threads);
    measureEmptyCalls(argv[1], binary, threads);
    Kernels kernels(binary, threads);
    for (const auto& [name, amount] : {std::pair<const char*, long>{"compute", 20'000},
                                       {"compute", 200'000},
                                       {"barriers", 100},
                                       {"stream", 1 << 18},
                                       {"stream", 1 << 22}}) {
      compare(kernels, name, amount);
    }
  }
  return 0;
}
