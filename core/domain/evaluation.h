// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/domain/candidate.h"
#include "core/domain/cell.h"
#include "core/domain/graph.h"

// What happened to a candidate (ARCHITECTURE.md, "Evaluations"): a failed kernel is data, never an Error.
namespace swage::domain {

// Relative to fp64 on the same inputs; a ranking is only fair inside one class.
enum class AccuracyClass : std::uint8_t { Fp32, Tf32, Half };
[[nodiscard]] std::string_view name(AccuracyClass value);
[[nodiscard]] std::optional<AccuracyClass> parseAccuracyClass(std::string_view text);

// Error of one output against the fp64 reference.
struct OutputError {
  int output = 0;           // index into Graph::outputs
  double relativeL2 = 0.0;  // ||out - ref||_2 / ||ref||_2
  double maxAbsolute = 0.0;
  double eagerRelativeL2 = 0.0;
  double eagerMaxAbsolute = 0.0;
};

// Of a longer series as many are kept, evenly spread over it: enough to see drift and clusters.
inline constexpr std::size_t kKeptSamples = 64;

// How the device was at one moment between two samples.
struct ConditionLook {
  int smClockMhz = 0;
  int temperatureCelsius = 0;
  bool throttled = false;
  friend bool operator==(const ConditionLook&, const ConditionLook&) = default;
};

// How the device was while something was measured, by NVML. Zero and empty: not known.
struct DeviceConditions {
  int smClockMhz = 0;                        // median
  int lowestSmClockMhz = 0;                  // of all samples
  int memoryClockMhz = 0;                    // median
  int temperatureCelsius = 0;                // highest
  double powerWatts = 0.0;                   // highest
  std::vector<std::string> throttleReasons;  // every one that was seen: "power cap", "thermal", ...
  std::vector<ConditionLook> looks{};        // in their order, at most kKeptSamples
  friend bool operator==(const DeviceConditions&, const DeviceConditions&) = default;
};

struct Timing {
  int samples = 0;
  int discarded = 0;
  double medianNs = 0.0;
  double lowNs = 0.0;  // 95 % interval of the median
  double highNs = 0.0;
  double minNs = 0.0;
  std::string stopReason;
  std::string clock;              // what gave the samples: "device events", "host clock"; empty: not known
  double hostMedianNs = 0.0;      // the host's clock around the same calls, without launch and wait; 0: not compared
  double activityMedianNs = 0.0;  // busy time on all streams by CUPTI for the same calls; 0: not compared
  int repeated = 0;               // samples measured again because the device was throttled
  DeviceConditions conditions;
  std::vector<double> sequenceNs{};  // the samples in the order in which they were taken, at most kKeptSamples
};

// Candidate and eager, timed in one interleaved sequence.
struct PairedTiming {
  Timing candidate;
  Timing eager;
  double speedup = 1.0;     // median of eager over median of candidate
  double speedupLow = 1.0;  // 95 % interval
  double speedupHigh = 1.0;
  bool screenedOut = false;  // too slow against its cell's elite for a full measurement
  double launchNs = 0.0;     // of one of several empty kernels, in the same rounds; 0: not measured
};

struct Duplicate {
  CandidateId of;
  std::string what;  // "source" or "binary"
};
struct Rejected {
  std::string rule;
  std::string detail;
};
// Refused: a check before or after the compiler found something that no candidate may have. Environment: the trouble is
// not the candidate's but its surroundings' (no compiler, no sandbox, no disk); such an outcome is never recorded.
enum class CompileFailureReason : std::uint8_t {
  Error,
  Timeout,
  MemoryLimit,
  OutputLimit,
  Crash,
  Refused,
  Environment
};
struct CompileFailed {
  CompileFailureReason reason = CompileFailureReason::Error;
  std::string log;  // head and tail, at most 256 KiB
};
struct LaunchFailed {
  std::string step;
  std::string detail;
};
// One that is not what it has to be, or not near enough.
struct WrongElement {
  std::int64_t element = 0;           // flat index
  std::vector<std::int64_t> place{};  // its index in each dimension
  double expected = 0.0;              // by the reference, or by eager where the result is too far from that
  double actual = 0.0;
};
inline constexpr std::size_t kMostWrongElements = 8;

struct Wrong {
  int output = 0;
  std::int64_t element = -1;  // flat index of the worst element, -1 when the whole output is wrong (shape, dtype)
  double expected = 0.0;
  double actual = 0.0;
  std::string rule;  // "error", "nan", "shape", "input modified", "red zone", "unwritten"
  std::string detail;
  std::vector<OutputError> errors;
  // The first wrong elements of the output, in their order, at most kMostWrongElements: fewer are all. Empty: nobody
  // has looked, as in a record of an earlier version, or no single element is to blame.
  std::vector<WrongElement> first{};
};
struct Crashed {
  int signal = 0;
  std::string detail;
};
struct TimedOut {
  std::string stage;
  double limitSeconds = 0.0;
};
struct Cheating {
  std::string rule;
  std::string detail;
};
struct Unstable {
  std::string detail;
};
// As InputErrors::inputs has them; every other word there is a kind of hard inputs.
inline constexpr std::string_view kTaskInputs = "task";
inline constexpr std::string_view kHeldBackInputs = "held back";

// The worst error over all checks with one kind of inputs.
struct InputErrors {
  std::string inputs;  // kTaskInputs, kHeldBackInputs, or a kind of hard ones (name() of core/verify/checks.h)
  int checks = 0;
  std::vector<OutputError> errors;
};
struct Correct {
  std::vector<OutputError> errors;
  AccuracyClass accuracy = AccuracyClass::Fp32;
  bool bitwiseRepeatable = true;
  PairedTiming timing;
  std::vector<InputErrors> byInputs;
};

using Evaluation = std::variant<Duplicate, Rejected, CompileFailed, LaunchFailed, Wrong, Crashed, TimedOut, Cheating,
                                Unstable, Correct>;

// What is stored of inputs, in a person's words: "unseen seeds", "large".
[[nodiscard]] std::string_view inputsTitle(std::string_view inputs);
// Why no more samples were taken: "stopped by time limit". Empty for what is not known.
[[nodiscard]] std::string_view stopTitle(std::string_view stopReason);
// "correct", "compile error", … : the word shown and stored.
[[nodiscard]] std::string_view statusName(const Evaluation& evaluation);
// Every word that statusName() can say.
[[nodiscard]] std::span<const std::string_view> statusNames();
// One line for a person.
[[nodiscard]] std::string summary(const Evaluation& evaluation);
[[nodiscard]] const Correct* asCorrect(const Evaluation& evaluation);
// The index in each dimension of an element of a tensor of this shape.
[[nodiscard]] std::vector<std::int64_t> placeOf(std::int64_t element, const Shape& shape);
// "[3, 17]".
[[nodiscard]] std::string placeText(std::span<const std::int64_t> place);
// Of each of the first wrong elements a line: "[3, 17]: expected 0.5, got 0".
[[nodiscard]] std::vector<std::string> firstWrongLines(const Wrong& wrong);

}  // namespace swage::domain
