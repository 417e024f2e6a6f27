// SPDX-License-Identifier: Apache-2.0
// swage-cell-benchmark CELL [THREADS]: what an empty call of a cell costs, what starting one costs, and how long
// kernels take in a cell's own memory and in this process, in turns, with cold caches and with the threads of both
// awake. On a machine that does nothing else; GOMP_SPINCOUNT=10000 keeps the threads of this process off the processors
// while the cell's run.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <omp.h>

#include "core/device/cell.h"
#include "core/device/shared_object.h"
#include "tests/core/verify/kernel_compiler.h"

namespace {

using namespace swage;
using std::chrono::steady_clock;

constexpr int kPairs = 101;
constexpr double kLimit = 60.0;

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

// Until the threads of a team that has nothing to do sleep.
void settle() {
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
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

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 2 ? std::atoi(argv[2]) : 2;
  omp_set_num_threads(threads);
  const std::string binary = testing::compileSharedObject(kSource);
  constexpr std::size_t kFloats = std::size_t{4} << 20U;
  const device::KernelCell::Options options{argv[1], {{kFloats * 4, true}, {kFloats * 4, false}}, threads};
  std::vector<double> starts;
  for (int i = 0; i < 21; ++i) {
    const auto begin = steady_clock::now();
    const auto started = orExit(device::KernelCell::start(options, binary));
    starts.push_back(std::chrono::duration<double, std::micro>(steady_clock::now() - begin).count());
  }
  auto cell = orExit(device::KernelCell::start(options, binary));
  const auto object = orExit(device::SharedObject::load(binary));
  std::printf("start with two buffers of 16 MiB: %.0f us\nempty call: %.0f ns (median of 2,001)\n", median(starts),
              orExit(cell->timeEmptyCalls(2001)));
  std::fflush(stdout);
  constexpr std::size_t kInput = 0;
  constexpr std::size_t kOutput = 1;
  if (cell->copyIn(std::span(&kInput, 1), 1) || cell->copyIn(std::span(&kOutput, 1), 1)) {
    return 1;
  }
  std::vector<float> x(kFloats, 1.0F);  // as large tensors have it: memory of the system's, asked for as such
  std::vector<float> y(kFloats);
  for (const auto& [name, amount] : {std::pair<const char*, long>{"compute", 2'000},
                                     {"compute", 20'000},
                                     {"compute", 200'000},
                                     {"stream", 1 << 18},
                                     {"stream", 1 << 22}}) {
    const int entry = orExit(cell->bind(name));
    const auto here = reinterpret_cast<void (*)(void**)>(object.find(name));
    const std::vector<device::KernelCell::Argument> arguments{device::KernelCell::BufferArgument{0},
                                                              device::KernelCell::BufferArgument{1},
                                                              static_cast<std::uint64_t>(amount)};
    std::vector<double> ratios;
    std::vector<double> inside;
    std::vector<double> outside;
    for (int pair = 0; pair < kPairs; ++pair) {
      void* first = x.data();
      void* second = y.data();
      long number = amount;
      void* pointers[] = {&first, &second, &number};
      flushCaches();
      const auto begin = steady_clock::now();
      here(pointers);
      const double hereNs = std::chrono::duration<double, std::nano>(steady_clock::now() - begin).count();
      flushCaches();
      settle();
      if (cell->warm()) {
        return 1;
      }
      inside.push_back(orExit(cell->call(entry, arguments, kLimit, 1)));
      outside.push_back(hereNs);
      ratios.push_back(inside.back() / hereNs);
    }
    std::fflush(stdout);
    std::printf(
        "%s %ld: %.1f us in the cell, %.4f of the time here (medians of %d pairs; of the fastest tenths %.4f)\n", name,
        amount, median(inside) / 1e3, median(ratios), kPairs, quantile(inside, 0.1) / quantile(outside, 0.1));
  }
  return 0;
}
