// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "core/base/result.h"
#include "core/domain/baseline.h"
#include "core/domain/compilation.h"
#include "core/domain/device_info.h"
#include "core/domain/evaluation.h"
#include "core/domain/launch_plan.h"
#include "core/domain/task.h"

// What the engine, its workers and its compilers say to each other. See PROTOCOL.md for the frames.
namespace swage::wire {

inline constexpr std::uint32_t kProtocolVersion = 1;

// First frame in each direction.
struct Hello {
  std::uint32_t protocol = kProtocolVersion;
  std::string program;  // "engine", "swage-worker", "swage-compiler"
  std::string revision;
};

// ---- engine -> worker
struct LoadTask {
  domain::Task task;
  std::string weightsPath;     // on the worker's machine
  std::uint64_t baseSeed = 0;  // inputs of check k are drawn with baseSeed + k
  int checkSeeds = 5;
  double timingBudgetSeconds = 1.0;
  bool timeEager = true;
};
struct Evaluate {
  std::uint64_t request = 0;
  domain::LaunchPlan plan;
  std::string binary;        // empty when the plan launches no kernel
  double screeningNs = 0.0;  // elite of the likely cell; 0: none. Two probes slower than 1.05x end the timing
  double timingBudgetSeconds = 0.5;
  int maxSamples = 50;
  double limitSeconds = 20.0;  // the engine kills the worker shortly after this
};
struct Shutdown {};

// ---- worker -> engine
struct WorkerReady {
  domain::DeviceInfo device;
  std::string torchVersion;
};
struct TaskReady {
  domain::Timing eager;
  std::vector<domain::OutputError> eagerErrors;  // of eager in its own type against the reference
  std::string referenceType;                     // "float64" or "float32"
  std::int64_t peakBytes = 0;
};
struct TaskRefused {
  ErrorKind kind = ErrorKind::InvalidInput;
  std::string message;
  std::string hint;
};
struct Evaluated {
  std::uint64_t request = 0;
  domain::Evaluation evaluation;
  double verifySeconds = 0.0;
  double timingSeconds = 0.0;
  bool workerExits = false;  // the device context is poisoned: a new worker is needed
};
// Sent while a request is being worked on, at least once a second.
struct Heartbeat {
  std::uint64_t request = 0;
  std::string stage;  // "reference", "verify", "time"
};

// ---- engine <-> compiler
struct Compile {
  std::uint64_t request = 0;
  domain::CompileRequest what;
  double limitSeconds = 20.0;
  std::int64_t memoryLimitBytes = std::int64_t{2} << 30;
};
struct Compiled {
  std::uint64_t request = 0;
  domain::CompileOutcome outcome;
};

using Message = std::variant<Hello, LoadTask, Evaluate, Shutdown, WorkerReady, TaskReady, TaskRefused, Evaluated,
                             Heartbeat, Compile, Compiled>;

}  // namespace swage::wire
