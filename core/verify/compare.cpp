// SPDX-License-Identifier: Apache-2.0
#include "core/verify/compare.h"

#include <ATen/ops/dot.h>
#include <ATen/ops/isclose.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/nan_to_num.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/where.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

namespace swage::verify {
namespace {

// On a CPU a chunk and its temporaries stay in the cache; on a GPU a chunk is large enough to hide its launches.
std::int64_t chunkElements(c10::Device device) {
  return device.is_cpu() ? std::int64_t{1} << 17 : std::int64_t{1} << 26;
}

void forEachChunk(c10::Device device, std::int64_t size,
                  const std::function<void(std::int64_t begin, std::int64_t count)>& visit) {
  const std::int64_t chunk = chunkElements(device);
  for (std::int64_t begin = 0; begin < size; begin += chunk) {
    visit(begin, std::min(chunk, size - begin));
  }
}

// Where a tensor of floating type is neither an infinity nor NaN. Unlike isfinite() without a copy of it on the way.
at::Tensor areNumbers(const at::Tensor& values) {
  return values.sub(values).eq(0);
}

// Of floating type; in float64.
Wiped wideChunk(const Sealed& sealed, std::int64_t begin, std::int64_t count) {
  return Wiped(sealed.chunk(begin, count)->to(at::kDouble));
}

// For arithmetic with float64. On a CPU libtorch would make the same copy, and leave it behind; a GPU makes none.
Wiped addend(const at::Tensor& actual) {
  return Wiped(actual.is_cpu() ? actual.to(at::kDouble) : actual);
}

// Of as many chunks as there are. NaN when any element was.
struct Norms {
  std::vector<at::Tensor> l2;
  std::vector<at::Tensor> maximum;

  void add(const at::Tensor& values) {
    l2.push_back(at::linalg_vector_norm(values, 2));
    maximum.push_back(largestOf(values));
  }
  static at::Tensor largestOf(const at::Tensor& values) {
    return at::linalg_vector_norm(values, std::numeric_limits<double>::infinity());
  }
};

// 0 of no chunk at all.
double l2Of(const std::vector<double>& chunks) {
  return std::sqrt(std::inner_product(chunks.begin(), chunks.end(), chunks.begin(), 0.0));
}

// Unlike std::max, NaN beside any number.
double maximumOf(const std::vector<double>& chunks) {
  return std::accumulate(chunks.begin(), chunks.end(), 0.0,
                         [](double a, double b) { return std::isnan(b) || b > a ? b : a; });
}

Magnitude read(const Norms& norms) {
  Answers answers;
  const Answers::Range l2 = answers.add(norms.l2);
  const Answers::Range maximum = answers.add(norms.maximum);
  answers.fetch();
  return {l2Of(answers.numbersOf(l2)), maximumOf(answers.numbersOf(maximum))};
}

bool areFinite(const Magnitude& norms) {
  return std::isfinite(norms.l2) && std::isfinite(norms.maxAbsolute);
}

double largestOf(at::ScalarType type) {
  switch (type) {
    case at::kHalf: return 65504.0;
    case at::kBFloat16: return 0x1.FEp127;
    case at::kFloat: return std::numeric_limits<float>::max();
    default: return std::numeric_limits<double>::max();
  }
}

std::int64_t firstTrue(const at::Tensor& flags) {
  return flags.any().item<bool>() ? flags.to(at::kByte).argmax().item<std::int64_t>() : -1;
}

// The first element that has the fault, chunk by chunk.
std::int64_t firstBad(const at::Tensor& flat, const Fault& fault) {
  const std::vector<std::int64_t> found = firstWith(fault, flat, 1);
  return found.empty() ? -1 : found.front();
}

// Absolute error in float64: 0 where both are the same infinity or NaN, infinite where only one is. What the type of
// `actual` cannot hold is infinite.
at::Tensor preciseError(const at::Tensor& actual, const at::Tensor& reference) {
  const Wiped stored(reference.to(actual.scalar_type()));
  const at::Tensor same = actual.eq(*stored)
                              .logical_and(areNumbers(*stored).logical_not())
                              .logical_or(actual.isnan().logical_and(reference.isnan()));
  const at::Tensor error = reference.to(at::kDouble).sub(*addend(actual)).abs();
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  const at::Tensor known = at::nan_to_num(error, kInfinite, kInfinite);
  return at::where(same, at::scalar_tensor(0.0, known.options()), known);
}

Difference settled(const at::Tensor& actual, const Sealed& reference, const Magnitude& error) {
  return areFinite(error) ? Difference{error.l2, error.maxAbsolute} : preciseDifference(actual, reference);
}

}  // namespace

// Looks for elements that are not finite, or would not be in the type of the output, only when there is one, or when
// the squares of finite ones overflow.
Magnitude magnitude(const Sealed& reference, at::ScalarType stored) {
  const auto ofChunks = [&reference](const std::function<at::Tensor(const at::Tensor&)>& change) {
    Norms norms;
    forEachChunk(reference.device(), reference.size(), [&](std::int64_t begin, std::int64_t count) {
      norms.add(*Wiped(change(*wideChunk(reference, begin, count))));
    });
    return read(norms);
  };
  const Magnitude all = ofChunks([](const at::Tensor& values) { return values; });
  if (areFinite(all) && all.maxAbsolute <= largestOf(stored)) {
    return all;
  }
  return ofChunks([stored](const at::Tensor& values) {
    const Wiped narrow(values.to(stored));
    const Wiped wide(narrow->to(at::kDouble));
    return at::nan_to_num(*wide, 0.0, 0.0, 0.0);
  });
}

void Spread::add(const Spread& other) {
  if (other.count == 0) {
    return;
  }
  lowest = count == 0 ? other.lowest : std::min(lowest, other.lowest);
  highest = count == 0 ? other.highest : std::max(highest, other.highest);
  count += other.count;
  sum += other.sum;
  squares += other.squares;
}

double Spread::mean() const {
  return count > 0 ? sum / static_cast<double>(count) : 0.0;
}

double Spread::deviation() const {
  return count > 0 ? std::sqrt(std::max(0.0, squares / static_cast<double>(count) - mean() * mean())) : 0.0;
}

Spread spread(const Sealed& tensor) {
  Spread total;
  forEachChunk(tensor.device(), tensor.size(), [&](std::int64_t begin, std::int64_t count) {
    const Wiped all = wideChunk(tensor, begin, count);
    const Wiped values(all->masked_select(areNumbers(*all)));
    if (values->numel() > 0) {
      total.add({values->numel(), values->sum().item<double>(), at::dot(*values, *values).item<double>(),
                 values->min().item<double>(), values->max().item<double>()});
    }
  });
  return total;
}

Difference preciseDifference(const at::Tensor& actual, const Sealed& reference) {
  Difference result;
  double squares = 0.0;
  forEachChunk(actual.device(), actual.numel(), [&](std::int64_t begin, std::int64_t count) {
    const at::Tensor a = actual.narrow(0, begin, count);
    const Wiped r = reference.chunk(begin, count);
    const at::Tensor error = preciseError(a, *r);
    squares += at::dot(error, error).item<double>();
    const std::int64_t worst = error.argmax().item<std::int64_t>();
    const double largest = error[worst].item<double>();
    if (largest > result.maxAbsolute) {
      result.maxAbsolute = largest;
      result.worst = begin + worst;
    }
    if (result.unexpectedNan < 0) {
      const std::int64_t nan = firstTrue(a.isnan().logical_and(r->isnan().logical_not()));
      result.unexpectedNan = nan >= 0 ? begin + nan : -1;
    }
  });
  result.l2 = std::sqrt(squares);
  return result;
}

Difference difference(const at::Tensor& actual, const Sealed& reference) {
  Norms norms;
  forEachChunk(actual.device(), actual.numel(), [&](std::int64_t begin, std::int64_t count) {
    norms.add(wideChunk(reference, begin, count)->sub(*addend(actual.narrow(0, begin, count))));
  });
  return settled(actual, reference, read(norms));
}

DistancesUnderWay DistancesUnderWay::begin(at::Tensor actual, const Sealed& reference, const Sealed& eager,
                                           Answers& answers) {
  Norms norms;
  std::vector<at::Tensor> fromEager;
  forEachChunk(actual.device(), actual.numel(), [&](std::int64_t begin, std::int64_t count) {
    const at::Tensor part = actual.narrow(0, begin, count);
    norms.add(wideChunk(reference, begin, count)->sub(*addend(part)));
    fromEager.push_back(Norms::largestOf(part.sub(*eager.chunk(begin, count))));
  });
  DistancesUnderWay begun(std::move(actual), reference);
  begun.m_l2 = answers.add(norms.l2);
  begun.m_maximum = answers.add(norms.maximum);
  begun.m_fromEager = answers.add(fromEager);
  return begun;
}

Distances DistancesUnderWay::read(const Answers& answers) const {
  const Magnitude error{l2Of(answers.numbersOf(m_l2)), maximumOf(answers.numbersOf(m_maximum))};
  return {settled(m_actual, m_reference, error), maximumOf(answers.numbersOf(m_fromEager))};
}

bool isFinite(const Sealed& tensor) {
  std::vector<at::Tensor> largest;
  forEachChunk(tensor.device(), tensor.size(), [&](std::int64_t begin, std::int64_t count) {
    largest.push_back(Norms::largestOf(*tensor.chunk(begin, count)));
  });
  Answers answers;
  const Answers::Range range = answers.add(largest);
  answers.fetch();
  return std::isfinite(maximumOf(answers.numbersOf(range)));
}

std::vector<std::int64_t> firstWith(const Fault& fault, const at::Tensor& flat, std::size_t most) {
  std::vector<std::int64_t> found;
  forEachChunk(flat.device(), flat.numel(), [&](std::int64_t begin, std::int64_t count) {
    if (found.size() >= most) {
      return;
    }
    const at::Tensor flags = fault(begin, count);
    for (std::int64_t from = 0; found.size() < most && from < count;) {
      const std::int64_t index = firstTrue(flags.narrow(0, from, count - from));
      if (index < 0) {
        break;
      }
      found.push_back(begin + from + index);
      from += index + 1;
    }
  });
  return found;
}

Fault unexpectedNan(const at::Tensor& actual, const Sealed& reference, const Sealed& eager) {
  return [actual, reference, eager](std::int64_t begin, std::int64_t count) {
    const at::Tensor finite =
        areNumbers(*reference.chunk(begin, count)).logical_and(areNumbers(*eager.chunk(begin, count)));
    return actual.narrow(0, begin, count).isnan().logical_and(finite);
  };
}

Fault notArrived(const at::Tensor& actual, const Sealed& reference, const Sealed& eager, Signs signs) {
  return [actual, reference, eager, signs](std::int64_t begin, std::int64_t count) {
    const at::Tensor a = actual.narrow(0, begin, count);
    const Wiped e = eager.chunk(begin, count);
    const Wiped r = reference.chunk(begin, count);
    const Wiped half(r->mul(0.5));
    const Wiped stored(half->to(a.scalar_type()));
    const at::Tensor nan = e->isnan().logical_and(r->isnan()).logical_and(a.isnan().logical_not());
    const at::Tensor infinite = areNumbers(*stored).logical_not().logical_and(e->eq(*stored));
    const at::Tensor other = signs == Signs::Matter ? a.ne(*stored) : a.isinf().logical_not();
    return nan.logical_or(infinite.logical_and(other));
  };
}

Fault mismatch(const at::Tensor& actual, const Sealed& reference, const Sealed& eager) {
  return [actual, reference, eager](std::int64_t begin, std::int64_t count) {
    const at::Tensor a = actual.narrow(0, begin, count);
    return a.ne(*reference.chunk(begin, count)).logical_and(a.ne(*eager.chunk(begin, count)));
  };
}

Fault notClose(const at::Tensor& actual, const Sealed& expected, double tolerance) {
  return [actual, expected, tolerance](std::int64_t begin, std::int64_t count) {
    const at::Tensor close = at::isclose(*expected.chunk(begin, count), actual.narrow(0, begin, count), tolerance,
                                         tolerance, /*equal_nan=*/true);
    return close.logical_not();
  };
}

Fault furtherThan(double limit, const at::Tensor& actual, const Sealed& reference) {
  return [limit, actual, reference](std::int64_t begin, std::int64_t count) {
    return preciseError(actual.narrow(0, begin, count), *reference.chunk(begin, count)).gt(limit);
  };
}

std::int64_t firstNan(const at::Tensor& actual, const Sealed& reference, const Sealed& eager) {
  return firstBad(actual, unexpectedNan(actual, reference, eager));
}

std::int64_t firstNotArrived(const at::Tensor& actual, const Sealed& reference, const Sealed& eager, Signs signs) {
  return firstBad(actual, notArrived(actual, reference, eager, signs));
}

std::int64_t firstUnmoved(const at::Tensor& one, const at::Tensor& other, const Sealed& reference,
                          const Sealed& eager) {
  return firstBad(one, [&](std::int64_t begin, std::int64_t count) {
    const at::Tensor numbers =
        areNumbers(*reference.chunk(begin, count)).logical_or(areNumbers(*eager.chunk(begin, count)));
    return one.narrow(0, begin, count).eq(other.narrow(0, begin, count)).logical_and(numbers.logical_not());
  });
}

std::int64_t firstMismatch(const at::Tensor& actual, const Sealed& reference, const Sealed& eager) {
  return firstBad(actual, mismatch(actual, reference, eager));
}

std::int64_t firstNotClose(const at::Tensor& actual, const Sealed& expected, double tolerance) {
  return firstBad(actual, notClose(actual, expected, tolerance));
}

}  // namespace swage::verify
