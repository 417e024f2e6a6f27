// SPDX-License-Identifier: Apache-2.0
#include "core/verify/hard_inputs.h"

#include <ATen/Context.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/verify/tensors.h"

namespace swage::verify {
namespace {

constexpr std::int64_t kDirections = 262'139;  // prime
constexpr double kWide = 0x1p3;                // an exponential of eight times a normal draw is still a number
constexpr double kUneven = 0x1p4;
constexpr double kUnevenHalf = 0x1p2;  // three times over, and squared: within what float16 can hold

constexpr std::int64_t kSpecialPlaces = 4;
constexpr std::int64_t kFewestElements = 64;  // among which they are a few
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Powers of two, so that scaling itself rounds nothing. The narrow types get what their range and precision allow.
struct Scales {
  double large;
  double small;
  double offset;       // over the largest power of two below the root mean square
  double denormal[2];  // one after the other, each of them a normal number
  int rows;            // how far rows lie apart from where they were drawn, as the power of two
  double rounding;     // of the largest relative error of storing a number
};

const Scales& scalesOf(at::ScalarType type) {
  static constexpr Scales kHalf{0x1p5, 0x1p-8, 0x1p3, {0x1p-10, 0x1p-8}, 3, 0x1p-11};
  static constexpr Scales kBFloat16{0x1p13, 0x1p-20, 0x1p2, {0x1p-100, 0x1p-28}, 10, 0x1p-8};
  static constexpr Scales kFloat{0x1p13, 0x1p-20, 0x1p10, {0x1p-100, 0x1p-30}, 10, 0x1p-24};
  static constexpr Scales kDouble{0x1p13, 0x1p-20, 0x1p10, {0x1p-1000, 0x1p-30}, 10, 0x1p-53};
  switch (type) {
    case at::kHalf: return kHalf;
    case at::kBFloat16: return kBFloat16;
    case at::kDouble: return kDouble;
    default: return kFloat;
  }
}

double powerOfTwoBelow(double value) {
  return std::isfinite(value) && value != 0.0 ? std::copysign(std::exp2(std::floor(std::log2(std::abs(value)))), value)
                                              : 0.5;
}

double rootMeanSquare(const at::Tensor& tensor) {
  const double norm = tensor.norm(2, at::kDouble).item<double>();
  return norm / std::sqrt(static_cast<double>(std::max<std::int64_t>(tensor.numel(), 1)));
}

at::Tensor randomSigns(const at::Tensor& like) {
  return at::empty_like(like).bernoulli_(0.5).mul_(2.0).sub_(1.0);
}

// Sums of equal powers of two are exact in any order: whoever gets them wrong did not just add in another order.
void makeEqual(at::Tensor& input) {
  input.fill_(powerOfTwoBelow(input.flatten()[0].item<double>()));
}

double offsetOf(const at::Tensor& input) {
  return scalesOf(input.scalar_type()).offset * powerOfTwoBelow(rootMeanSquare(input));
}

void makeCancelling(at::Tensor& input) {
  if (input.dim() == 0) {
    return;
  }
  const double offset = offsetOf(input);
  const at::Tensor index = at::arange(input.size(-1), at::TensorOptions().dtype(at::kLong).device(input.device()));
  input.add_(index.remainder(2).mul(-2).add(1).to(input.scalar_type()).mul_(offset));
}

// Below -128 for draws up to 1, where float32's exponential is 0.
void makeNegative(at::Tensor& input) {
  constexpr double kShare = 0x1p-2;
  input.abs_().add_(kShare * offsetOf(input)).neg_();
}

// The last part of rows and columns, and of that the very last element once more: what looks at seven eighths of a row
// is found, and what stops one element early. A last element that was drawn near zero is first made as large as the
// others, or it would hide just that where there is only one row.
void makeUneven(at::Tensor& input) {
  constexpr std::int64_t kParts = 16;
  const double factor = input.scalar_type() == at::kHalf ? kUnevenHalf : kUneven;
  const auto scaleEnd = [&](std::int64_t dimension, std::int64_t count) {
    input.narrow(dimension, input.size(dimension) - count, count).mul_(factor);
  };
  const std::int64_t last = input.dim() - 1;
  if (last > 0) {
    scaleEnd(0, std::max<std::int64_t>(1, input.size(0) / kParts));
  }
  if (last >= 0) {
    at::Tensor end = input.narrow(last, input.size(last) - 1, 1);
    end.copy_(at::where(end.eq(0), end, end.abs().clamp_min(rootMeanSquare(input)).copysign(end)));
    scaleEnd(last, std::max<std::int64_t>(1, input.size(last) / kParts));
    scaleEnd(last, 1);
  }
}

// Multiples of a power of two, whose sums are exact in any order. What is negative and small becomes -0.
void makeTies(at::Tensor& input) {
  const double step = powerOfTwoBelow(rootMeanSquare(input));
  input.div_(step).round_().mul_(step);
}

void scaleRows(at::Tensor& input) {
  std::vector<std::int64_t> rows(input.sizes().begin(), input.sizes().end());
  rows.back() = 1;
  const int furthest = scalesOf(input.scalar_type()).rows;
  const at::Tensor exponents =
      at::randint(-furthest, furthest + 1, rows, at::TensorOptions().dtype(at::kFloat).device(input.device()));
  input.mul_(exponents.exp2_());
}

// In a few places, of which the last two get what the first two do not.
void makeSpecial(at::Tensor& input, double first, double last) {
  at::Tensor flat = input.contiguous().view(-1);
  const at::Tensor places =
      at::randint(flat.numel(), {kSpecialPlaces}, at::TensorOptions().dtype(at::kLong).device(input.device()));
  flat.index_fill_(0, places.narrow(0, 0, kSpecialPlaces / 2), first);
  flat.index_fill_(0, places.narrow(0, kSpecialPlaces / 2, kSpecialPlaces / 2), last);
  input = flat.view(input.sizes());
}

bool hasRows(const at::Tensor& tensor) {
  return tensor.dim() > 1 && tensor.size(-1) < tensor.numel();
}

void makeHard(at::Tensor& input, InputClass inputs) {
  const Scales& scales = scalesOf(input.scalar_type());  // of float32 for booleans, which are not scaled
  switch (inputs) {
    case InputClass::Large: input.mul_(scales.large); return;
    case InputClass::Small: input.mul_(scales.small); return;
    case InputClass::Denormal: input.mul_(scales.denormal[0]).mul_(scales.denormal[1]); return;
    case InputClass::Equal: makeEqual(input); return;
    case InputClass::Offset: input.add_(offsetOf(input)); return;
    case InputClass::Cancelling: makeCancelling(input); return;
    case InputClass::MixedSign: input.abs_().mul_(randomSigns(input)); return;
    case InputClass::Negative: makeNegative(input); return;
    case InputClass::Wide: input.mul_(kWide); return;
    case InputClass::Uneven: makeUneven(input); return;
    case InputClass::Masks: input.bernoulli_(0.5); return;
    case InputClass::Ties: makeTies(input); return;
    case InputClass::Rows: scaleRows(input); return;
    case InputClass::Nan: makeSpecial(input, kNan, kNan); return;
    case InputClass::Infinite: makeSpecial(input, kInfinity, -kInfinity); return;
    case InputClass::Task:
    case InputClass::Weights:
    case InputClass::HeldBack: return;
  }
}

bool isWeight(const domain::GraphInput& input) {
  return input.kind == domain::InputKind::Parameter || input.kind == domain::InputKind::Buffer;
}

bool isAllAlike(const at::Tensor& booleans) {
  return booleans.eq(booleans.flatten()[0]).all().item<bool>();
}

bool isChanged(const domain::GraphInput& input, const at::Tensor& tensor, InputClass inputs) {
  const bool isMeant = inputs == InputClass::Weights ? isWeight(input) : input.kind == domain::InputKind::User;
  if (!isMeant || tensor.numel() == 0) {
    return false;
  }
  if ((inputs == InputClass::Rows && !hasRows(tensor)) || (isSpecial(inputs) && tensor.numel() < kFewestElements)) {
    return false;
  }
  return inputs == InputClass::Masks ? tensor.scalar_type() == at::kBool && isAllAlike(tensor)
                                     : tensor.is_floating_point();
}

bool hasBothSigns(const at::Tensor& tensor) {
  return tensor.min().item<double>() < 0.0 && tensor.max().item<double>() > 0.0;
}

}  // namespace

at::Tensor otherWeight(const domain::GraphInput& input, const at::Tensor& weight, std::uint64_t seed) {
  at::manual_seed(seed);
  at::Tensor noise = at::empty_like(weight);
  const double size = rootMeanSquare(weight);
  const bool isMean = input.name.ends_with("running_mean");
  const bool isBuffer = input.kind == domain::InputKind::Buffer && !isMean;
  if (size != 0.0 && (isBuffer || !hasBothSigns(weight))) {
    return noise.uniform_(0.5, 1.5).mul_(weight);
  }
  return noise.normal_(0.0, 0.5 * (std::isfinite(size) && size > 0.0 ? size : 1.0)).add_(weight);
}

std::vector<at::Tensor> harden(const domain::Graph& graph, const Check& check, std::vector<at::Tensor> drawn) {
  at::manual_seed(check.seed);
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    if (!isHard(check.inputs) || !isChanged(graph.inputs[i], drawn[i], check.inputs)) {
      continue;
    }
    if (check.inputs == InputClass::Weights) {
      drawn[i] = otherWeight(graph.inputs[i], drawn[i], check.seed + i);
    } else {
      makeHard(drawn[i], check.inputs);  // a user input: drawn for this check alone
    }
  }
  return drawn;
}

bool appliesTo(const domain::Graph& graph, const Check& check, std::span<const at::Tensor> drawn) {
  bool applies = !isHard(check.inputs);
  for (std::size_t i = 0; i < drawn.size() && !applies; ++i) {
    applies = isChanged(graph.inputs[i], drawn[i], check.inputs) &&
              (check.inputs != InputClass::MixedSign || !hasBothSigns(drawn[i]));
  }
  return applies;
}

at::Tensor withNumbers(const at::Tensor& input, double factor) {
  const at::Tensor areNumbers = input.isfinite();
  const at::Tensor largest = at::where(areNumbers, input.abs(), at::zeros_like(input)).max();
  return at::where(areNumbers, input, largest.mul(factor));
}

RoundingNoise::RoundingNoise(at::ScalarType type, c10::Device device)
    : m_directions(randomSigns(at::empty({2 * kDirections}, at::TensorOptions().dtype(type).device(device)))) {}

at::Tensor RoundingNoise::apply(const at::Tensor& value, domain::ScalarType stored) {
  if (!value.is_floating_point() || value.numel() == 0) {
    return value;
  }
  // The constant is half the distance between neighbours; in a float32 reference nothing less than all of it exists.
  const double rounding = 2.0 * scalesOf(toTorch(stored)).rounding;
  const auto place = static_cast<std::int64_t>(m_place() % kDirections);
  const at::Tensor factors = m_directions.narrow(0, place, kDirections).mul(rounding).add_(1.0);
  const at::Tensor from = value.contiguous().view(-1);
  at::Tensor moved = at::empty_like(from);
  const std::int64_t whole = from.numel() / kDirections * kDirections;
  const std::int64_t rest = from.numel() - whole;
  at::Tensor rows = moved.narrow(0, 0, whole).view({-1, kDirections});
  at::mul_out(rows, from.narrow(0, 0, whole).view({-1, kDirections}), factors);
  at::Tensor last = moved.narrow(0, whole, rest);
  at::mul_out(last, from.narrow(0, whole, rest), factors.narrow(0, 0, rest));
  return moved.view(value.sizes());
}

}  // namespace swage::verify
