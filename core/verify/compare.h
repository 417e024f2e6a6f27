// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "core/verify/answers.h"
#include "core/verify/sealed.h"

// Comparison of outputs by tensor operations, in chunks, so that no temporary is as large as an output.
// Everything here may throw c10::Error and, where nothing else is said, waits for the device.
namespace swage::verify {

// Of the elements of a tensor of floating type that are finite in `stored`, in float64.
struct Magnitude {
  double l2 = 0.0;
  double maxAbsolute = 0.0;
};
[[nodiscard]] Magnitude magnitude(const Sealed& reference, at::ScalarType stored = at::kDouble);

// How the elements of a tensor of any type lie, in float64, without those that are not finite.
struct Spread {
  std::int64_t count = 0;
  double sum = 0.0;
  double squares = 0.0;
  double lowest = 0.0;
  double highest = 0.0;

  void add(const Spread& other);
  [[nodiscard]] double mean() const;
  [[nodiscard]] double deviation() const;  // standard, of the whole
};
[[nodiscard]] Spread spread(const Sealed& tensor);

// Error of `actual` against `reference`, which has the same number of elements, both flat. Elements that are the same
// infinity, or NaN in both, have no error; what the type of `actual` cannot hold is infinite.
struct Difference {
  double l2 = 0.0;
  double maxAbsolute = 0.0;         // infinite when an infinity or NaN stands where there should be none
  std::int64_t worst = -1;          // element of the largest error, where it was looked for
  std::int64_t unexpectedNan = -1;  // first NaN where the reference has none
};
// Does not look for the element as long as all errors are finite: preciseDifference does, and takes longer.
[[nodiscard]] Difference difference(const at::Tensor& actual, const Sealed& reference);
[[nodiscard]] Difference preciseDifference(const at::Tensor& actual, const Sealed& reference);

// As difference(), and the largest absolute distance from `eager`: NaN when either has one.
struct Distances {
  Difference fromReference;
  double fromEager = 0.0;
};
class DistancesUnderWay {
 public:
  // Asks the device and does not wait for it.
  [[nodiscard]] static DistancesUnderWay begin(at::Tensor actual, const Sealed& reference, const Sealed& eager,
                                               Answers& answers);
  // Of the answers when they are there.
  [[nodiscard]] Distances read(const Answers& answers) const;

 private:
  DistancesUnderWay(at::Tensor actual, const Sealed& reference) : m_actual(std::move(actual)), m_reference(reference) {}

  at::Tensor m_actual;
  Sealed m_reference;
  Answers::Range m_l2;
  Answers::Range m_maximum;
  Answers::Range m_fromEager;
};

// Whether an infinity of the other sign is another one.
enum class Signs : unsigned char { Matter, DoNotMatter };

// What may be wrong with an element of a result: which ones of a chunk are, as booleans. It keeps what it was made of.
using Fault = std::function<at::Tensor(std::int64_t begin, std::int64_t count)>;
// Those that the functions below look for, and: further from the reference than that.
[[nodiscard]] Fault unexpectedNan(const at::Tensor& actual, const Sealed& reference, const Sealed& eager);
[[nodiscard]] Fault notArrived(const at::Tensor& actual, const Sealed& reference, const Sealed& eager, Signs signs);
[[nodiscard]] Fault mismatch(const at::Tensor& actual, const Sealed& reference, const Sealed& eager);
[[nodiscard]] Fault notClose(const at::Tensor& actual, const Sealed& expected, double tolerance);
[[nodiscard]] Fault furtherThan(double limit, const at::Tensor& actual, const Sealed& reference);
// The first elements of `flat` that have it, in their order, at most `most`. Does not look behind them.
[[nodiscard]] std::vector<std::int64_t> firstWith(const Fault& fault, const at::Tensor& flat, std::size_t most);

// Whether no element of a tensor of floating type is an infinity or NaN.
[[nodiscard]] bool isFinite(const Sealed& tensor);
// The first element that is NaN in `actual` and a finite number in both others; -1 when there is none.
[[nodiscard]] std::int64_t firstNan(const at::Tensor& actual, const Sealed& reference, const Sealed& eager);

// The first element of `actual` that is not what both others have where they have NaN or the same infinity; -1 when
// there is none. An infinity of a type of half the range does not count, because rounding may lead there.
[[nodiscard]] std::int64_t firstNotArrived(const at::Tensor& actual, const Sealed& reference, const Sealed& eager,
                                           Signs signs);

// The first element that is no number in the reference and eager, and the same in two other results; -1 when there is
// none.
[[nodiscard]] std::int64_t firstUnmoved(const at::Tensor& one, const at::Tensor& other, const Sealed& reference,
                                        const Sealed& eager);

// The first element of `actual` that equals neither of the two others; -1 when there is none. For integers and
// booleans.
[[nodiscard]] std::int64_t firstMismatch(const at::Tensor& actual, const Sealed& reference, const Sealed& eager);

// torch.allclose(expected, actual) with rtol = atol = tolerance, NaN equal to NaN: the first element that is not close,
// or -1.
[[nodiscard]] std::int64_t firstNotClose(const at::Tensor& actual, const Sealed& expected, double tolerance);

}  // namespace swage::verify
