// SPDX-License-Identifier: Apache-2.0
// Loads a pointwise task and lets PyTorch's own kernel be the candidate, with memory for the results of all checks, of
// one, and of none, and says what a screened-out candidate and a contender cost.
//   swage-check-benchmark [cpu|cuda] [ELEMENTS]
#include <malloc.h>

#include <chrono>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

#include "core/device/open_device.h"
#include "core/domain/evaluation.h"
#include "core/verify/task_session.h"
#include "core/verify/torch_runtime.h"
#include "tests/core/verify/small_device.h"
#include "tests/core/verify/task_builder.h"

namespace {

using namespace swage;

constexpr int kThreads = 2;
constexpr std::int64_t kElements = std::int64_t{1} << 22;  // no block too large for the allocator's heap

wire::LoadTask loadRequest(std::int64_t elements) {
  wire::LoadTask request;
  request.task = testing::pointwiseTask({elements}, "aten.silu.default");
  request.baseSeed = 1000;
  request.adversarial = true;
  request.heldBackSeeds = 3;
  request.timingBudgetSeconds = 0.1;
  return request;
}

double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::string cost(verify::TaskSession& session, wire::Evaluate request, double screeningNs) {
  request.screeningNs = screeningNs;
  const auto start = std::chrono::steady_clock::now();
  const wire::Evaluated result = session.evaluate(request, [](std::string_view) {});
  const double all = secondsSince(start);
  const auto* correct = domain::asCorrect(result.evaluation);
  return correct == nullptr ? domain::summary(result.evaluation)
                            : fmt::format("{:.3f} s, {:.3f} of them checks", all, result.verifySeconds);
}

Result<> report(device::Device& real, const wire::LoadTask& loading, const char* what, std::int64_t freeBytes) {
  testing::SmallDevice device(real, freeBytes);
  const auto start = std::chrono::steady_clock::now();
  SWAGE_TRY_ASSIGN(const auto session, verify::TaskSession::load(loading, device, [](std::string_view) {}));
  fmt::print("results of {} checks kept: loaded in {:.3f} s\n", what, secondsSince(start));
  wire::Evaluate request;
  request.plan = testing::atenPlan(loading.task);
  request.timingBudgetSeconds = 0.1;
  request.heldBack = true;
  request.limitSeconds = 600.0;
  fmt::print("  screened out: {}\n", cost(*session, request, 1e-3));
  fmt::print("  contender: {}\n", cost(*session, request, 0.0));
  return {};
}

Result<> run(domain::DeviceKind target, std::int64_t elements) {
  SWAGE_TRY(verify::startTorch(target, 0, kThreads));
  SWAGE_TRY_ASSIGN(const auto device, device::openDevice(target, 0, kThreads));
  const wire::LoadTask loading = loadRequest(elements);
  SWAGE_TRY(report(*device, loading, "no", testing::bytesToKeep(0, loading)));
  SWAGE_TRY(report(*device, loading, "one of the", testing::bytesToKeep(1, loading)));
  verify::releaseCachedMemory(target);  // as swage-worker does between tasks
  return report(*device, loading, "all", device->freeBytes());
}

}  // namespace

int main(int argc, char** argv) {
  ::mallopt(M_MMAP_THRESHOLD, 32 << 20);  // NOLINT(concurrency-mt-unsafe): before any thread; as swage-worker does
  ::mallopt(M_TRIM_THRESHOLD, 1 << 30);   // NOLINT(concurrency-mt-unsafe)
  const bool isCuda = argc > 1 && std::string_view(argv[1]) == "cuda";
  const std::int64_t elements = argc > 2 ? std::strtoll(argv[2], nullptr, 10) : kElements;
  const Result<> done = run(isCuda ? domain::DeviceKind::Cuda : domain::DeviceKind::Cpu, elements);
  if (!done) {
    fmt::print(stderr, "{}\n", done.error().message());
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
