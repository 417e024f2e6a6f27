// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/domain/candidate.h"
#include "core/domain/cell.h"

// What happened to a candidate (DESIGN.md, decision 1): a failed kernel is data, never an Error.
namespace swage::domain {

// Relative to fp64 on the same inputs; a ranking is only fair inside one class.
enum class AccuracyClass : std::uint8_t { Fp32, Tf32, Half };
[[nodiscard]] std::string_view name(AccuracyClass value);

// Error of one output against the fp64 reference.
struct OutputError {
  int output = 0;           // index into Graph::outputs
  double relativeL2 = 0.0;  // ||out - ref||_2 / ||ref||_2
  double maxAbsolute = 0.0;
  double eagerRelativeL2 = 0.0;
  double eagerMaxAbsolute = 0.0;
};

struct Timing {
  int samples = 0;
  int discarded = 0;
  double medianNs = 0.0;
  double lowNs = 0.0;  // 95 % interval of the median
  double highNs = 0.0;
  double minNs = 0.0;
  std::string stopReason;
};

// Candidate and eager, timed in one interleaved sequence.
struct PairedTiming {
  Timing candidate;
  Timing eager;
  double speedup = 1.0;     // median of eager over median of candidate
  double speedupLow = 1.0;  // 95 % interval
  double speedupHigh = 1.0;
  bool screenedOut = false;  // too slow against its cell's elite for a full measurement
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
struct Wrong {
  int output = 0;
  std::int64_t element = -1;  // flat index of the worst element, -1 when the whole output is wrong (shape, dtype)
  double expected = 0.0;
  double actual = 0.0;
  std::string rule;  // "error", "nan", "shape", "input modified", "red zone", "unwritten"
  std::string detail;
  std::vector<OutputError> errors;
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
struct Correct {
  std::vector<OutputError> errors;
  AccuracyClass accuracy = AccuracyClass::Fp32;
  bool bitwiseRepeatable = true;
  PairedTiming timing;
};

using Evaluation = std::variant<Duplicate, Rejected, CompileFailed, LaunchFailed, Wrong, Crashed, TimedOut, Cheating,
                                Unstable, Correct>;

// "correct", "compile error", … : the word shown and stored.
[[nodiscard]] std::string_view statusName(const Evaluation& evaluation);
// One line for a person.
[[nodiscard]] std::string summary(const Evaluation& evaluation);
[[nodiscard]] const Correct* asCorrect(const Evaluation& evaluation);

}  // namespace swage::domain
