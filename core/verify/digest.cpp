// SPDX-License-Identifier: Apache-2.0
#include "core/verify/digest.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/sum.h>

#include <algorithm>
#include <random>

namespace swage::verify {
namespace {

// Taken over and over. Prime, so that no run gets the weights of the run before it, and no row those of another.
constexpr std::int64_t kWeights = 262'139;
// Of a result: 128 MB.
constexpr std::int64_t kMostSums = std::int64_t{1} << 24;
constexpr std::int64_t kShortestRun = 64;
// The mean square of what is evenly distributed between them is 1.
constexpr double kLeastWeight = 0.5;
constexpr double kLargestWeight = 1.4271;

std::uint64_t anySeed() {
  std::random_device source;
  return (static_cast<std::uint64_t>(source()) << 32U) | source();
}

// As for comparisons: see compare.cpp.
std::int64_t chunkOf(c10::Device device) {
  return device.is_cpu() ? std::int64_t{1} << 17 : std::int64_t{1} << 26;
}

// Each element times its weight.
at::Tensor weigh(const at::Tensor& values, const at::Tensor& weights) {
  const std::int64_t whole = values.numel() / kWeights * kWeights;
  const std::int64_t rest = values.numel() - whole;
  at::Tensor weighted = at::empty({values.numel()}, weights.options());
  if (whole > 0) {
    at::Tensor rows = weighted.narrow(0, 0, whole).view({-1, kWeights});
    at::mul_out(rows, values.narrow(0, 0, whole).view({-1, kWeights}), weights);
  }
  if (rest > 0) {
    at::Tensor last = weighted.narrow(0, whole, rest);
    at::mul_out(last, values.narrow(0, whole, rest), weights.narrow(0, 0, rest));
  }
  return weighted;
}

}  // namespace

Digester::Digester(c10::Device device, std::uint64_t maskKey) {
  at::Generator random = at::detail::createCPUGenerator(anySeed());
  const at::Tensor signs = at::empty({kWeights}, at::kDouble).bernoulli_(0.5, random).mul_(2.0).sub_(1.0);
  const at::Tensor sizes = at::empty({kWeights}, at::kDouble).uniform_(kLeastWeight, kLargestWeight, random);
  m_weights = Sealed(signs.mul(sizes).to(device), maskKey);
  const at::Tensor integers = at::empty({kWeights}, at::kLong).random_(std::int64_t{1} << 40, random);
  m_integerWeights = Sealed(integers.mul(2).add(1).to(device), maskKey);
}

std::int64_t Digester::runLength(std::int64_t elements) {
  return std::max(kShortestRun, (elements + kMostSums - 1) / kMostSums);
}

at::Tensor Digester::sumsOf(const at::Tensor& flat) const {
  const bool isFloating = flat.is_floating_point();
  return sumsOf(flat.numel(), isFloating ? m_weights : m_integerWeights,
                [&flat](std::int64_t begin, std::int64_t count) { return Wiped(flat.narrow(0, begin, count)); });
}

at::Tensor Digester::sumsOf(const Sealed& sealed) const {
  return sumsOf(sealed.size(), sealed.isFloating() ? m_weights : m_integerWeights,
                [&sealed](std::int64_t begin, std::int64_t count) { return sealed.chunk(begin, count); });
}

at::Tensor Digester::sumsOf(std::int64_t size, const Sealed& weights, const Part& part) const {
  const Wiped open = weights.chunk(0, kWeights);
  const std::int64_t run = runLength(size);
  const std::int64_t chunk = std::max<std::int64_t>(1, chunkOf(open->device()) / run) * run;
  at::Tensor sums = at::empty({(size + run - 1) / run}, open->options());
  for (std::int64_t begin = 0; begin < size; begin += chunk) {
    const std::int64_t count = std::min(chunk, size - begin);
    const Wiped weighted(weigh(*part(begin, count), *open));
    const std::int64_t whole = count / run;
    if (whole > 0) {
      at::Tensor into = sums.narrow(0, begin / run, whole);
      at::sum_out(into, weighted->narrow(0, 0, whole * run).view({whole, run}), 1);
    }
    if (count % run != 0) {
      sums.narrow(0, begin / run + whole, 1).copy_(weighted->narrow(0, whole * run, count % run).sum());
    }
  }
  return sums;
}

}  // namespace swage::verify
