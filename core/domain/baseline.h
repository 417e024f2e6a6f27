// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/domain/evaluation.h"

namespace swage::domain {

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
};

}  // namespace swage::domain
