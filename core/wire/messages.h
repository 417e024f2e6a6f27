// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/result.h"
#include "core/domain/baseline.h"
#include "core/domain/cell.h"
#include "core/domain/compilation.h"
#include "core/domain/device_info.h"
#include "core/domain/evaluation.h"
#include "core/domain/launch_plan.h"
#include "core/domain/profile.h"
#include "core/domain/task.h"

// What the engine, its workers and its compilers say to each other. See PROTOCOL.md for the frames.
namespace swage::wire {

inline constexpr std::uint32_t kProtocolVersion = 9;

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
  bool adversarial = false;  // also check with inputs that are hard to compute with, and judge whether the task is sane
  int heldBackSeeds = 0;     // drawn with baseSeed + 500 + k, and used only where Evaluate::heldBack asks
};
struct Evaluate {
  std::uint64_t request = 0;
  domain::LaunchPlan plan;
  std::string binary;        // empty when the plan launches no kernel
  double screeningNs = 0.0;  // elite of the likely cell; 0: none. Two probes slower than 1.05x end the timing
  // Who takes longer is no contender, too far behind the best of the search: it is timed briefly, and not checked as
  // one. 0: all are contenders.
  double contenderNs = 0.0;
  double timingBudgetSeconds = 0.5;
  int minSamples = 7;  // although the median is precise enough before: a search need not know it better
  int maxSamples = 50;
  double limitSeconds = 20.0;  // the engine kills the worker shortly after this
  bool heldBack = false;       // check with the held-back seeds as well
  double checkSeconds = 0.0;   // that the checks of a contender may take before the rest is left out; 0: as they take
  bool verifyOnly = false;     // no timing: Correct comes back without one
  bool timeLaunches = false;   // time empty kernels beside it, on a GPU
};
// Looks at one candidate with the device's counters; its outputs are not checked. Never between timings.
struct ProfileRequest {
  std::uint64_t request = 0;
  domain::LaunchPlan plan;
  std::string binary;
  bool counters = true;     // false: as if the device refused its counters
  bool sampleLines = true;  // program counter samples by instruction
  double limitSeconds = 120.0;
};
// Memory of the device that the worker keeps only to be faster is to be given back: other programs need it now.
struct MakeRoom {};
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
  std::vector<std::string> doubts;  // why a speedup on this task would say little: "output 0 is constant"
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
struct Profiled {
  std::uint64_t request = 0;
  domain::Profile profile;
  bool workerExits = false;
};
struct RoomMade {
  std::int64_t freeBytes = 0;  // of the device, whoever takes them
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

// ---- engine <-> compiler that was started for synthesis
// What the calls after it are about. Answered with Synthesised.
struct OpenSynthesis {
  std::uint64_t request = 0;
  domain::Graph graph;
  domain::DeviceInfo device;
  std::string patterns;  // folder, on the compiler's machine
};
// One call of synth::Synthesizer, with the arguments that it takes.
struct Synthesise {
  enum class Call : std::uint8_t { Fresh, Seeds, Vary, Neighbours, Realise, CoveredNodes, ReachableCells, Estimate };
  std::uint64_t request = 0;
  Call call = Call::Fresh;
  domain::Genome genome{};
  std::optional<domain::Genome> other{};
  std::optional<domain::Cell> aim{};
  domain::OperatorKind kind = domain::OperatorKind::Parameter;
  std::uint64_t randomState = 0;
};
struct Synthesised {
  std::uint64_t request = 0;
  std::vector<domain::Genome> genomes{};  // Vary: one, or none where it is not applicable; Estimate: its own
  std::optional<domain::Program> program{};
  std::vector<int> nodes{};
  std::vector<int> cells{};       // indices
  std::uint64_t randomState = 0;  // as the call has left it
  std::optional<Error> error{};
  std::vector<double> seconds{};  // the estimates of the genomes, in their order; 0: not known
};
[[nodiscard]] std::string_view name(Synthesise::Call call);
[[nodiscard]] std::optional<Synthesise::Call> parseSynthesisCall(std::string_view text);

using Message = std::variant<Hello, LoadTask, Evaluate, Shutdown, WorkerReady, TaskReady, TaskRefused, Evaluated,
                             Heartbeat, Compile, Compiled, ProfileRequest, Profiled, MakeRoom, RoomMade, OpenSynthesis,
                             Synthesise, Synthesised>;

}  // namespace swage::wire
