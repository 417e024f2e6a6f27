// SPDX-License-Identifier: Apache-2.0
#include "core/synth/strategies/conv_phases.h"

#include <algorithm>
#include <numeric>

#include "core/synth/sizes.h"

namespace swage::synth {
namespace {

// One axis of positions, with the window that slides along it.
struct Slide {
  std::size_t position = 0;
  std::size_t window = 0;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  std::int64_t delta = 0;
  std::int64_t behind = 0;  // above 0: phases are those of the results (conv_phases.h)

  // Else elements of the window belong to a phase each.
  [[nodiscard]] bool meetsAllInOnePhase() const { return dilation % stride == 0; }
  // Positions from one phase to the next.
  [[nodiscard]] std::int64_t step() const { return meetsAllInOnePhase() ? 1 : dilation; }
};

// Slide::behind. With padding, phases of the window may have one position more than phases of the results: 33 instead
// of 32 for 64 results, which leaves tiles empty. Then phases of the results are taken, if each has an element of the
// window. They may need one place of the window more; in three dimensions that would be one patch more, so there phases
// of the window stay. 0: they stay.
std::int64_t behindOf(const Region& region, const Slide& slide, std::int64_t offset) {
  const std::int64_t results = region.axes[slide.position].extent;
  const std::int64_t window = region.axes[slide.window].extent;
  if (slide.dilation != 1 || slide.stride == 1 || offset == 0 || window < slide.stride) {
    return 0;
  }
  const std::int64_t behind = slide.stride - offset;
  const bool isShorter = divideUp(results, slide.stride) < (results - 1 + offset) / slide.stride + 1;
  const bool hasMorePlaces = (window - 1 + behind) / slide.stride + 1 > divideUp(window, slide.stride);
  const auto windows = std::count_if(region.axes.begin(), region.axes.end(),
                                     [](const Axis& axis) { return axis.role == AxisRole::Window; });
  return isShorter && (!hasMorePlaces || windows <= 2) ? behind : 0;
}

// The axes of a bound with a divisor: no value where there is not one position and one window.
std::optional<Slide> slideOf(const Region& region, const Bound& bound) {
  std::optional<std::size_t> position;
  std::optional<std::size_t> window;
  for (std::size_t axis = 0; axis < bound.factors.size(); ++axis) {
    if (bound.factors[axis] == 0) {
      continue;
    }
    std::optional<std::size_t>& found = region.axes[axis].isFolded() ? window : position;
    if (found) {
      return std::nullopt;
    }
    found = axis;
  }
  if (!position || !window || bound.factors[*position] != 1 || bound.factors[*window] >= 0 || bound.offset < 0) {
    return std::nullopt;
  }
  Slide slide{*position, *window, bound.divisor, -bound.factors[*window]};
  if (!slide.meetsAllInOnePhase() && std::gcd(slide.stride, slide.dilation) != 1) {
    return std::nullopt;
  }
  slide.behind = behindOf(region, slide, bound.offset % slide.stride);
  if (slide.behind > 0) {
    return slide;
  }
  // The first position of each phase is at t = 0 or later.
  const std::int64_t least = (slide.step() - 1) * (slide.stride - 1);
  slide.delta = bound.offset % slide.stride;
  slide.delta += (std::max<std::int64_t>(0, least - slide.delta) + slide.stride - 1) / slide.stride * slide.stride;
  return slide;
}

// Factors over the new axes of what had `factors` over the old ones; returns what is to be added.
std::int64_t substitute(std::vector<std::int64_t>& factors, const Slide& slide) {
  const std::int64_t position = factors[slide.position];
  const std::int64_t window = factors[slide.window];
  factors[slide.position] = slide.stride * position;
  if (slide.meetsAllInOnePhase()) {
    factors.push_back(position);
  } else {
    factors[slide.window] = slide.stride * window;
    factors.push_back(slide.step() * position + window);
  }
  return slide.behind > 0 ? -slide.behind * window : -slide.delta * position;
}

bool divide(Bound& bound) {
  const auto isWhole = [&bound](std::int64_t number) { return number % bound.divisor == 0; };
  if (!isWhole(bound.offset) || !std::all_of(bound.factors.begin(), bound.factors.end(), isWhole)) {
    return false;
  }
  for (std::int64_t& factor : bound.factors) {
    factor /= bound.divisor;
  }
  bound.offset /= bound.divisor;
  bound.divisor = 1;
  return true;
}

// The input is found without a division; the weights have nothing behind the end of the window, or in other phases than
// the first.
bool rewrite(Operand& operand, const Slide& slide, std::int64_t windowExtent, bool isDivided) {
  const std::int64_t stride = operand.strides[slide.window];
  const std::size_t phase = operand.strides.size();
  const bool isInOnePhase = slide.meetsAllInOnePhase();
  if (stride != 0 && !isInOnePhase) {
    operand.strides[slide.window] = 0;
    Bound bound{std::vector<std::int64_t>(operand.strides.size(), 0), 0, 1, windowExtent, stride};
    bound.factors[slide.window] = 1;
    operand.bounds.push_back(std::move(bound));
  }
  operand.offset += substitute(operand.strides, slide);
  for (Bound& bound : operand.bounds) {
    const bool isSliding = isDivided && bound.divisor == slide.stride && bound.factors[slide.position] != 0;
    bound.offset += substitute(bound.factors, slide);
    if (isSliding && isInOnePhase) {
      bound.factors[phase] = 0;
    }
    if (isSliding && !divide(bound)) {
      return false;
    }
  }
  if (stride != 0 && isInOnePhase) {
    Bound bound{std::vector<std::int64_t>(operand.strides.size(), 0), 0, 1, 1, 0};
    bound.factors[phase] = 1;
    operand.bounds.push_back(std::move(bound));
  }
  return true;
}

bool splitPhases(DenseRegion& dense, const Slide& slide, domain::ValueId input) {
  Region& region = dense.region;
  const std::int64_t results = region.axes[slide.position].extent;
  const std::int64_t window = region.axes[slide.window].extent;
  for (Operand& operand : region.operands) {
    if (!rewrite(operand, slide, window, operand.value == input && !operand.output)) {
      return false;
    }
  }
  for (Bound& bound : dense.results) {
    substitute(bound.factors, slide);
  }
  Bound bound{std::vector<std::int64_t>(region.axes.size(), 0), 0, 1, results, 1};
  bound.factors[slide.position] = 1;
  bound.offset = substitute(bound.factors, slide);
  dense.results.push_back(std::move(bound));
  region.axes[slide.position].extent = (results - 1 + slide.delta) / slide.stride + 1;
  if (!slide.meetsAllInOnePhase()) {
    region.axes[slide.window].extent = (window - 1 + slide.behind) / slide.stride + 1;
  }
  region.axes.push_back({slide.stride, AxisRole::Batch, region.axes[slide.position].isFoldedLater});
  return true;
}

}  // namespace

std::optional<DenseRegion> denseRegion(const Region& region) {
  DenseRegion dense{region, {}};
  const bool isNamed = std::any_of(region.prims.begin(), region.prims.end(), [](const Prim& prim) {
    return prim.kind == Prim::Kind::Coordinate || prim.kind == Prim::Kind::Index;
  });
  for (const Operand& operand : region.operands) {
    for (const Bound& bound : operand.bounds) {
      if (bound.divisor == 1) {
        continue;
      }
      const auto slide = slideOf(region, bound);
      if (isNamed || !slide || !splitPhases(dense, *slide, operand.value)) {
        return std::nullopt;
      }
    }
  }
  return dense;
}

}  // namespace swage::synth
