// SPDX-License-Identifier: Apache-2.0
#include <malloc.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <thread>

#include <fmt/core.h>

#include "app/worker/connection.h"
#include "app/worker/heartbeat.h"
#include "app/worker/options.h"
#include "app/worker/worker_loop.h"
#include "core/base/log.h"
#include "core/device/open_device.h"
#include "core/domain/json.h"
#include "core/verify/torch_runtime.h"
#include "core/wire/exit_code.h"

namespace {

using namespace swage;

constexpr int kLargestHeapBlock = 32 << 20;  // the most that the allocator takes from its heap
constexpr int kKeptHeapBytes = 1 << 30;

// Dies with its parent, leaves no core of several gigabytes behind, and learns from write() that the engine has gone.
// Keeps freed memory: whether a call pays for page faults must not depend on what the call before it freed.
void prepareProcess() {
  ::mallopt(M_MMAP_THRESHOLD, kLargestHeapBlock);  // NOLINT(concurrency-mt-unsafe): before any thread
  ::mallopt(M_TRIM_THRESHOLD, kKeptHeapBytes);     // NOLINT(concurrency-mt-unsafe)
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  std::signal(SIGPIPE, SIG_IGN);
}

// Without destructors: a thread is blocked in read(), and drivers do not like to be unloaded.
[[noreturn]] void leave(wire::ExitCode code) {
  std::fflush(nullptr);
  std::_Exit(static_cast<int>(code));
}

wire::ExitCode fail(const Error& error) {
  log::error("{}{}{}", error.message(), error.hint().empty() ? "" : "\n", error.hint());
  return wire::exitCodeFor(error.kind());
}

Result<std::unique_ptr<device::Device>> startDevice(const worker::WorkerOptions& options) {
  SWAGE_TRY(device::checkDevice(options.target, options.ordinal));  // before libtorch, whose words are less clear
  SWAGE_TRY_ASSIGN(const int threads, verify::startTorch(options.target, options.ordinal, options.threads));
  return device::openDevice(options.target, options.ordinal, threads);
}

// Everything that takes seconds and nothing of the device: libraries and the driver.
Result<> prepareWithoutDevice(const worker::WorkerOptions& options) {
  SWAGE_TRY(device::checkDevice(options.target, options.ordinal));
  return verify::loadTorch(options.target);
}

Result<wire::ExitCode> check(const worker::WorkerOptions& options) {
  SWAGE_TRY(device::checkDevice(options.target, options.ordinal));
  SWAGE_TRY_ASSIGN(const auto device, device::openDevice(options.target, options.ordinal, 1));
  const domain::DeviceInfo& info = device->info();
  fmt::print("{}, {}, {:.1f} GB{}{}\n", info.name, info.architecture, static_cast<double>(info.memoryBytes) / 1e9,
             info.driverVersion.empty() ? "" : ", driver ", info.driverVersion);
  return wire::ExitCode::Ok;
}

Result<wire::ExitCode> list(const worker::WorkerOptions& options) {
  const auto threads = options.threads > 0 ? options.threads : static_cast<int>(std::thread::hardware_concurrency());
  const device::DeviceList found = device::listDevices(threads);
  const auto trouble = [](const std::optional<Error>& error) {
    return error ? domain::Json{{"message", error->message()}, {"hint", error->hint()}} : domain::Json();
  };
  domain::Json json = {{"devices", domain::Json::array()}, {"cuda_trouble", trouble(found.cudaTrouble)}};
  for (const device::ListedDevice& one : found.devices) {
    json["devices"].push_back({{"device", domain::toJson(one.info)}, {"trouble", trouble(one.trouble)}});
  }
  fmt::print("{}\n", json.dump(-1, ' ', false, domain::Json::error_handler_t::replace));
  return wire::ExitCode::Ok;
}

Result<wire::ExitCode> serve(const worker::WorkerOptions& options) {
  SWAGE_TRY_ASSIGN(const auto connection, worker::WorkerConnection::takeStandardStreams());
  if (options.standBy) {
    SWAGE_TRY(prepareWithoutDevice(options));
  }
  SWAGE_TRY(connection->send(wire::Hello{wire::kProtocolVersion, "swage-worker", SWAGE_REVISION}));
  worker::HeartbeatSender heartbeat(*connection);
  connection->startReading([&heartbeat] {
    // Nobody waits for an answer. An idle loop finds the end of the input by itself; one that is about to begin a
    // request that came just before it becomes busy a moment later.
    while (!heartbeat.isBusy()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    leave(wire::ExitCode::Ok);
  });
  if (options.standBy) {
    if (connection->waitForRequest() == worker::WorkerConnection::Arrival::End) {
      leave(wire::ExitCode::Ok);
    }
    heartbeat.begin(0);
    heartbeat.enter("device");
  }
  SWAGE_TRY_ASSIGN(const auto device, startDevice(options));
  heartbeat.end();
  SWAGE_TRY(connection->send(wire::WorkerReady{device->info(), verify::torchVersion()}));
  const wire::ExitCode code = worker::WorkerLoop(*connection, heartbeat, *device).run();
  leave(code);
}

}  // namespace

int main(int argc, char** argv) {
  prepareProcess();
  const auto options = worker::parseOptions(std::span<const char* const>(argv + 1, argv + argc));
  if (!options) {
    leave(fail(options.error()));
  }
  if (options->help) {
    std::fputs(worker::kUsage.data(), stdout);
    return 0;
  }
  const auto served = options->list ? list(*options) : options->check ? check(*options) : serve(*options);
  leave(served ? *served : fail(served.error()));
}
