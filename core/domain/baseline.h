// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/domain/evaluation.h"
#include "core/domain/speedup.h"

namespace swage::domain {

struct Graph;

// A candidate against eager. Not known where they were not measured in turns: not timed, or screened out.
[[nodiscard]] Speedup againstEager(const PairedTiming& timing);

// A way PyTorch itself runs the task.
struct Baseline {
  std::string mode;  // "eager", "compile", "max-autotune"
  Timing timing;
  double relativeL2 = 0.0;
  double maxAbsolute = 0.0;
  double compileSeconds = 0.0;
  std::string failure;  // not empty: this mode did not work, and why
  AccuracyClass accuracy = AccuracyClass::Fp32;
  std::string torchVersion;  // that measured it; empty: not known
  Speedup eagerSpeedup;      // of eager against this way, measured in turns with it; not known in older records
};

// A mode in words: "eager execution", "torch.compile", "torch.compile in mode max-autotune".
[[nodiscard]] std::string pytorchWay(const std::string& mode);

// It worked and has a time.
[[nodiscard]] bool hasWorked(const Baseline& baseline);

// It has a time but does not count, and `failure` says why: KernelBench's checker would reject its results.
[[nodiscard]] bool isRejected(const Baseline& baseline);

// How many times as fast eager is as one of PyTorch's ways. 1 for eager itself; else as measured in turns, or, where
// that is not known, from the two times. Not known without either. `all` are the baselines of one run.
[[nodiscard]] Speedup eagerAgainst(const Baseline& baseline, const std::vector<Baseline>& all);

// The least exact class that PyTorch's default settings permit for this task: eager's own, and TF32 where there are
// float32 convolutions, because those may use it by default; matrix products may not.
[[nodiscard]] AccuracyClass permittedAccuracy(const Graph& graph, AccuracyClass eager);

}  // namespace swage::domain
