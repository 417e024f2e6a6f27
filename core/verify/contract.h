// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/domain/evaluation.h"
#include "core/domain/scalar_type.h"

// What "as accurate as eager" means in numbers (ARCHITECTURE.md, "Accuracy").
namespace swage::verify {

// How exact an output has to be.
struct ErrorLimit {
  double relativeL2 = 0.0;
  double maxAbsolute = 0.0;
};

// At most twice eager's relative error and four times its largest one. Where eager is exact to the last place by luck
// (a single mean, say), another order of summation must not fail it, so there is a floor in L2: two roundings of the
// type, which is 1.2e-7 for float32; four times that, at the scale of the reference's largest element, for the worst
// element.
[[nodiscard]] ErrorLimit errorLimit(domain::ScalarType dtype, double eagerRelativeL2, double eagerMaxAbsolute,
                                    double referenceMaxAbsolute);

// The same for inputs that are hard to compute with, where eager may be exact by luck. `rounding...` is how far the
// exact result moves when every input and every value on the way is one rounding off, at random. Errors of one kernel
// are less random than that, so sixty-four times as much is allowed: six bits. A narrower type loses twelve, and
// a part of the task that is left out more than that.
// Where all elements are alike, so are their errors: they add up along a sum instead of averaging out, and twelve bits
// are allowed. Such inputs are there to find divisions by zero, not a lack of precision.
// Of an output of a 16-bit type, which has eight bits or eleven, that would be all there is, and a bias that is left
// out would pass. Sums are not kept in such types, so three bits are enough, and six.
// Where they are denormal, they are alike to everything beside them, and `rounding...` is also how far the result moves
// when they are zero: where that is more than a twentieth, four times it is allowed and no more.
enum class Elements : unsigned char { Varied, Alike, Flushed };
[[nodiscard]] ErrorLimit hardErrorLimit(const ErrorLimit& ordinary, domain::ScalarType dtype, double roundingRelativeL2,
                                        double roundingMaxAbsolute, Elements elements);

// KernelBench's tolerance against eager, absolute and relative alike: 1e-4, or 1e-2 for 16-bit types. Results of tasks
// that its checker does not judge may be nearer to the reference instead (Verdict::Nearness).
[[nodiscard]] double kernelBenchTolerance(domain::ScalarType dtype);

// The class of one output from its error. `exactRelativeL2` is the error of eager without TF32. A 16-bit result cannot
// be better than Half.
[[nodiscard]] domain::AccuracyClass accuracyClass(domain::ScalarType dtype, double relativeL2, double exactRelativeL2);

}  // namespace swage::verify
