// SPDX-License-Identifier: Apache-2.0
// What a kernel finds that looks for right answers in all of the worker's memory: PyTorch's, the reference's, and its
// own of earlier calls.
#include <dlfcn.h>

#include <fstream>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "core/verify/task_session.h"
#include "tests/core/verify/kernel_compiler.h"
#include "tests/core/verify/on_cpu.h"
#include "tests/core/verify/small_device.h"
#include "tests/core/verify/task_builder.h"
#include "tests/support/result_matchers.h"
#include "tests/support/temp_dir.h"

namespace swage::verify {
namespace {

// exp(x), right, and in some last places another one than PyTorch's. Then looks for 256 of its outputs one behind the
// other, also in float64, and appends to the file FOUND where they stand a second time. The second and third call are
// those on the same inputs with the first result still there (EvaluationRun::repeat): they do not count their own.
constexpr const char* kSearching = R"(
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
namespace {
constexpr int kWindow = 256;
template <class T> bool isClose(T found, float own) { return std::abs(found - own) <= 1e-6f * own; }
template <class T> bool isAnswer(const T* at, const float* own) {
  for (int i = 0; i < kWindow; ++i) if (!isClose(at[i], own[i])) return false;
  return true;
}
bool isVaried(const float* own) {
  float least = *own, most = *own;
  for (int i = 1; i < kWindow; ++i) { least = std::fmin(least, own[i]); most = std::fmax(most, own[i]); }
  return std::isfinite(most) && least > 0 && most > 1.01f * least;
}
template <class T> int answersIn(const char* begin, const char* end, const float* own, bool countsOwn) {
  int found = 0;
  const T* last = reinterpret_cast<const T*>(end) - kWindow;
  for (const T* at = reinterpret_cast<const T*>(begin); at <= last; ++at) {
    if (static_cast<const void*>(at) == own || !isClose(*at, *own) || !isAnswer(at, own)) continue;
    found += countsOwn || sizeof(T) != sizeof(float) || std::memcmp(at, own, kWindow * sizeof(T)) != 0;
  }
  return found;
}
}
extern "C" void searching(void** a) {
  static int calls = 0;
  const float* x = *static_cast<const float**>(a[0]);
  float* y = *static_cast<float**>(a[1]);
  for (std::int64_t i = 0; i < *static_cast<std::int64_t*>(a[2]); ++i) y[i] = static_cast<float>(std::exp(static_cast<double>(x[i])));
  const float* own = y + 512;
  const bool countsOwn = ++calls > 3;
  if (!isVaried(own)) return;
  std::FILE* maps = std::fopen("/proc/self/maps", "r");
  char line[512];
  int single = 0, wide = 0;
  while (std::fgets(line, sizeof line, maps)) {
    std::uintptr_t begin, end;
    char access[8];
    if (std::sscanf(line, "%lx-%lx %7s", &begin, &end, access) != 3 || std::strncmp(access, "rw-p", 4) != 0) continue;
    single += answersIn<float>(reinterpret_cast<const char*>(begin), reinterpret_cast<const char*>(end), own, countsOwn);
    wide += answersIn<double>(reinterpret_cast<const char*>(begin), reinterpret_cast<const char*>(end), own, countsOwn);
  }
  std::fclose(maps);
  std::FILE* file = std::fopen(FOUND, "a");
  if (single + wide > 0) std::fprintf(file, "call %d: %d in float32, %d in float64\n", calls, single, wide);
  std::fclose(file);
}
)";

class Leftovers : public ::testing::TestWithParam<bool> {};

TEST_P(Leftovers, HoldNoAnswers) {
  ASSERT_NE(::dlsym(RTLD_DEFAULT, "kSwageKeepsWhatIsFreed"), nullptr) << "needs LD_PRELOAD=libswage_no_reuse.so";
  const std::unique_ptr<device::Device> device = testing::openCpu();
  ASSERT_NE(device, nullptr);
  const testing::TempDir directory;
  wire::LoadTask loading;
  loading.task = testing::pointwiseTask({64, 512}, "aten.exp.default");
  loading.baseSeed = 1000;
  loading.timingBudgetSeconds = 0.05;
  loading.adversarial = true;
  loading.heldBackSeeds = 3;
  const bool isKept = GetParam();
  testing::SmallDevice small(*device, isKept ? device->freeBytes() : testing::bytesToKeep(0, loading));
  const auto session = TaskSession::load(loading, small, [](std::string_view) {});
  ASSERT_THAT(session, testing::IsOk());
  wire::Evaluate request;
  request.plan = testing::oneKernelPlan(loading.task, "searching");
  request.binary =
      testing::compileSharedObject(fmt::format("#define FOUND \"{}\"\n{}", (directory / "found").string(), kSearching));
  request.timingBudgetSeconds = 0.02;
  request.maxSamples = 8;
  request.heldBack = true;
  request.limitSeconds = 600.0;
  const wire::Evaluated result = (*session)->evaluate(request, [](std::string_view) {});
  EXPECT_NE(domain::asCorrect(result.evaluation), nullptr) << domain::summary(result.evaluation);
  std::ifstream found(directory / "found");
  ASSERT_TRUE(found.is_open()) << "the kernel did not search";
  const std::string all((std::istreambuf_iterator<char>(found)), std::istreambuf_iterator<char>());
  EXPECT_EQ(all, "");
}

INSTANTIATE_TEST_SUITE_P(Kept, Leftovers, ::testing::Bool());

}  // namespace
}  // namespace swage::verify
