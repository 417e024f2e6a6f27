// SPDX-License-Identifier: Apache-2.0
#include "core/verify/compare.h"

#include <ATen/ops/dot.h>
#include <ATen/ops/isclose.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/nan_to_num.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>

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

// `now` is of one more chunk; nothing is known before the first one.
at::Tensor largest(const at::Tensor& before, const at::Tensor& now) {
  return before.defined() ? at::maximum(before, now) : now;
}

// On the device until it is read. NaN when any element was.
struct Sums {
  at::Tensor squares;
  at::Tensor maximum;

  void add(const at::Tensor& values) {
    const at::Tensor sum = at::dot(values, values);
    squares = squares.defined() ? squares.add_(sum) : sum;
    maximum = largest(maximum, values.abs().max());
  }
};

// Waits for the device once. What no chunk has touched is 0.
std::vector<double> read(const std::vector<at::Tensor>& scalars) {
  std::vector<double> values(scalars.size(), 0.0);
  std::vector<at::Tensor> known;
  std::copy_if(scalars.begin(), scalars.end(), std::back_inserter(known),
               [](const auto& one) { return one.defined(); });
  if (known.empty()) {
    return values;
  }
  const at::Tensor onHost = at::stack(known).cpu();
  const double* next = onHost.const_data_ptr<double>();
  for (std::size_t i = 0; i < scalars.size(); ++i) {
    values[i] = scalars[i].defined() ? *next++ : 0.0;
  }
  return values;
}

std::int64_t firstTrue(const at::Tensor& flags) {
  return flags.any().item<bool>() ? flags.to(at::kByte).argmax().item<std::int64_t>() : -1;
}

// The first element of which `isBad` says so, chunk by chunk.
std::int64_t firstBad(const at::Tensor& flat, const std::function<at::Tensor(std::int64_t, std::int64_t)>& isBad) {
  std::int64_t found = -1;
  forEachChunk(flat.device(), flat.numel(), [&](std::int64_t begin, std::int64_t count) {
    if (found < 0) {
      const std::int64_t index = firstTrue(isBad(begin, count));
      found = index >= 0 ? begin + index : -1;
    }
  });
  return found;
}

// Absolute error in float64: 0 where both are the same infinity or NaN, infinite where only one is.
at::Tensor preciseError(const at::Tensor& actual, const at::Tensor& reference) {
  const at::Tensor same = actual.eq(reference).logical_or(actual.isnan().logical_and(reference.isnan()));
  const at::Tensor error = reference.to(at::kDouble).sub(actual).abs();
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  const at::Tensor known = at::nan_to_num(error, kInfinite, kInfinite);
  return at::where(same, at::scalar_tensor(0.0, known.options()), known);
}

Difference settled(const at::Tensor& actual, const Sealed& reference, double squares, double maximum) {
  const Difference result{std::sqrt(squares), maximum};
  const bool isFinite = std::isfinite(result.l2) && std::isfinite(result.maxAbsolute);
  return isFinite ? result : preciseDifference(actual, reference);
}

}  // namespace

Magnitude magnitude(const Sealed& reference) {
  Sums sums;
  forEachChunk(reference.device(), reference.size(), [&](std::int64_t begin, std::int64_t count) {
    sums.add(at::nan_to_num(reference.chunk(begin, count).to(at::kDouble), 0.0, 0.0, 0.0));
  });
  const std::vector<double> found = read({sums.squares, sums.maximum});
  return {std::sqrt(found[0]), found[1]};
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
    const at::Tensor all = tensor.chunk(begin, count).to(at::kDouble);
    const at::Tensor values = all.masked_select(all.isfinite());
    if (values.numel() > 0) {
      total.add({values.numel(), values.sum().item<double>(), at::dot(values, values).item<double>(),
                 values.min().item<double>(), values.max().item<double>()});
    }
  });
  return total;
}

Difference preciseDifference(const at::Tensor& actual, const Sealed& reference) {
  Difference result;
  double squares = 0.0;
  forEachChunk(actual.device(), actual.numel(), [&](std::int64_t begin, std::int64_t count) {
    const at::Tensor a = actual.narrow(0, begin, count);
    const at::Tensor r = reference.chunk(begin, count);
    const at::Tensor error = preciseError(a, r);
    squares += at::dot(error, error).item<double>();
    const std::int64_t worst = error.argmax().item<std::int64_t>();
    const double largest = error[worst].item<double>();
    if (largest > result.maxAbsolute) {
      result.maxAbsolute = largest;
      result.worst = begin + worst;
    }
    if (result.unexpectedNan < 0) {
      const std::int64_t nan = firstTrue(a.isnan().logical_and(r.isnan().logical_not()));
      result.unexpectedNan = nan >= 0 ? begin + nan : -1;
    }
  });
  result.l2 = std::sqrt(squares);
  return result;
}

Difference difference(const at::Tensor& actual, const Sealed& reference) {
  Sums sums;
  forEachChunk(actual.device(), actual.numel(), [&](std::int64_t begin, std::int64_t count) {
    sums.add(reference.chunk(begin, count).to(at::kDouble).sub(actual.narrow(0, begin, count)));
  });
  const std::vector<double> found = read({sums.squares, sums.maximum});
  return settled(actual, reference, found[0], found[1]);
}

std::vector<Distances> distances(const std::vector<Compared>& outputs) {
  std::vector<at::Tensor> scalars;
  for (const Compared& output : outputs) {
    Sums sums;
    at::Tensor fromEager;
    forEachChunk(output.actual.device(), output.actual.numel(), [&](std::int64_t begin, std::int64_t count) {
      const at::Tensor part = output.actual.narrow(0, begin, count);
      sums.add(output.reference->chunk(begin, count).to(at::kDouble).sub(part));
      fromEager = largest(fromEager, part.sub(output.eager->chunk(begin, count)).abs_().max().to(at::kDouble));
    });
    scalars.insert(scalars.end(), {sums.squares, sums.maximum, fromEager});
  }
  const std::vector<double> found = read(scalars);
  std::vector<Distances> result;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const double* values = &found[3 * i];
    result.push_back({settled(outputs[i].actual, *outputs[i].reference, values[0], values[1]), values[2]});
  }
  return result;
}

bool isFinite(const Sealed& tensor) {
  bool finite = true;
  forEachChunk(tensor.device(), tensor.size(), [&](std::int64_t begin, std::int64_t count) {
    finite = finite && tensor.chunk(begin, count).isfinite().all().item<bool>();
  });
  return finite;
}

std::int64_t firstNan(const at::Tensor& actual, const Sealed& reference, const Sealed& eager) {
  return firstBad(actual, [&](std::int64_t begin, std::int64_t count) {
    const at::Tensor finite =
        reference.chunk(begin, count).isfinite().logical_and(eager.chunk(begin, count).isfinite());
    return actual.narrow(0, begin, count).isnan().logical_and(finite);
  });
}

std::int64_t firstMismatch(const at::Tensor& actual, const Sealed& reference, const Sealed& eager) {
  return firstBad(actual, [&](std::int64_t begin, std::int64_t count) {
    const at::Tensor a = actual.narrow(0, begin, count);
    return a.ne(reference.chunk(begin, count)).logical_and(a.ne(eager.chunk(begin, count)));
  });
}

std::int64_t firstNotClose(const at::Tensor& actual, const Sealed& expected, double tolerance) {
  return firstBad(actual, [&](std::int64_t begin, std::int64_t count) {
    const at::Tensor close = at::isclose(expected.chunk(begin, count), actual.narrow(0, begin, count), tolerance,
                                         tolerance, /*equal_nan=*/true);
    return close.logical_not();
  });
}

}  // namespace swage::verify
