// SPDX-License-Identifier: Apache-2.0
#include "core/verify/wide_convolution.h"

#include <ATen/ops/bmm.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/domain/aten.h"
#include "core/verify/wiped.h"

namespace swage::verify {
namespace {

using Sizes = std::vector<std::int64_t>;

// Fewer rows or columns of a weight are no matrix: depthwise convolutions have kernels of their own.
constexpr std::int64_t kFewestChannels = 8;

struct Convolution {
  at::Tensor input;
  at::Tensor weight;
  std::optional<at::Tensor> bias;
  Sizes stride;
  Sizes padding;
  Sizes dilation;
  Sizes outputPadding;
  std::int64_t groups = 1;
  bool isTransposed = false;

  [[nodiscard]] std::size_t dimensions() const { return stride.size(); }
  [[nodiscard]] std::int64_t kernel(std::size_t d) const { return weight.size(static_cast<std::int64_t>(d) + 2); }
  [[nodiscard]] std::int64_t extent(std::size_t d) const { return input.size(static_cast<std::int64_t>(d) + 2); }
  [[nodiscard]] std::int64_t reach(std::size_t d) const { return dilation[d] * (kernel(d) - 1) + 1; }
  [[nodiscard]] std::int64_t outputChannels() const { return isTransposed ? groups * weight.size(1) : weight.size(0); }
};

std::int64_t product(const Sizes& sizes) {
  std::int64_t result = 1;
  for (const std::int64_t size : sizes) {
    result *= size;
  }
  return result;
}

// One number may stand for all dimensions.
std::optional<Sizes> sizesOf(const c10::IValue& value, std::size_t dimensions) {
  if (!value.isIntList()) {
    return std::nullopt;
  }
  Sizes sizes = value.toIntVector();
  if (sizes.size() == 1) {
    sizes.assign(dimensions, sizes.front());
  }
  return sizes.size() == dimensions ? std::optional(sizes) : std::nullopt;
}

// Where the arguments are in which an operator has more than the input, the weight and the bias.
struct Places {
  std::size_t stride = 3;
  std::size_t padding = 4;
  std::size_t dilation = 5;
  std::size_t groups = 6;
  std::optional<std::size_t> transposed = std::nullopt;
  std::optional<std::size_t> outputPadding = std::nullopt;
};

std::optional<Places> placesOf(std::string_view name) {
  if (name == "conv1d" || name == "conv2d" || name == "conv3d") {
    return Places{};
  }
  if (name == "conv_transpose1d" || name == "conv_transpose2d" || name == "conv_transpose3d") {
    return Places{.dilation = 7, .groups = 6, .outputPadding = 5};
  }
  if (name == "convolution") {
    return Places{.groups = 8, .transposed = 6, .outputPadding = 7};
  }
  return std::nullopt;
}

std::optional<Convolution> read(const std::string& op, const torch::jit::Stack& arguments) {
  const std::string_view name = domain::atenName(op);
  const auto places = placesOf(name);
  if (!places || arguments.size() <= std::max(places->groups, places->dilation)) {
    return std::nullopt;
  }
  Convolution made;
  made.input = arguments[0].toTensor();
  made.weight = arguments[1].toTensor();
  made.bias = arguments[2].toOptional<at::Tensor>();
  if (made.input.dim() != made.weight.dim() || made.input.dim() < 3) {
    return std::nullopt;  // without a batch
  }
  const auto dimensions = static_cast<std::size_t>(made.input.dim() - 2);
  const auto stride = sizesOf(arguments[places->stride], dimensions);
  const auto padding = sizesOf(arguments[places->padding], dimensions);
  const auto dilation = sizesOf(arguments[places->dilation], dimensions);
  const auto outputPadding = places->outputPadding ? sizesOf(arguments[*places->outputPadding], dimensions)
                                                   : std::optional(Sizes(dimensions, 0));
  if (!stride || !padding || !dilation || !outputPadding) {
    return std::nullopt;
  }
  made.stride = *stride;
  made.padding = *padding;
  made.dilation = *dilation;
  made.outputPadding = *outputPadding;
  made.groups = arguments[places->groups].toInt();
  made.isTransposed = places->transposed ? arguments[*places->transposed].toBool() : name.starts_with("conv_t");
  return made;
}

bool isWorthwhile(const Convolution& which) {
  return which.outputChannels() / which.groups >= kFewestChannels &&
         which.input.size(1) / which.groups * which.weight[0][0].numel() >= kFewestChannels;
}

// Of input and output by group, for a part of the batch: [entries * groups, channels of a group, ...].
at::Tensor weightsFor(const at::Tensor& byGroup, std::int64_t entries) {
  return byGroup.unsqueeze(0).expand({entries, -1, -1, -1}).reshape({-1, byGroup.size(1), byGroup.size(2)});
}

// ---- each output position as the product of the weights with what the kernel covers there
Sizes outputSizes(const Convolution& which) {
  Sizes sizes;
  for (std::size_t d = 0; d < which.dimensions(); ++d) {
    sizes.push_back((which.extent(d) + 2 * which.padding[d] - which.reach(d)) / which.stride[d] + 1);
  }
  return sizes;
}

at::Tensor padded(const Convolution& which, const at::Tensor& entries) {
  Sizes around;
  for (std::size_t d = which.dimensions(); d-- > 0;) {
    around.insert(around.end(), {which.padding[d], which.padding[d]});
  }
  const bool isBare = std::all_of(around.begin(), around.end(), [](std::int64_t pad) { return pad == 0; });
  return isBare ? entries.contiguous() : at::constant_pad_nd(entries, around, 0);
}

// [entries, channels, kernel..., positions...] of the output rows from `first` on, as a view.
at::Tensor windows(const Convolution& which, const at::Tensor& entries, Sizes positions, std::int64_t first) {
  Sizes sizes = {entries.size(0), entries.size(1)};
  Sizes strides = {entries.stride(0), entries.stride(1)};
  for (std::size_t d = 0; d < which.dimensions(); ++d) {
    sizes.push_back(which.kernel(d));
    strides.push_back(entries.stride(static_cast<std::int64_t>(d) + 2) * which.dilation[d]);
  }
  for (std::size_t d = 0; d < which.dimensions(); ++d) {
    sizes.push_back(positions[d]);
    strides.push_back(entries.stride(static_cast<std::int64_t>(d) + 2) * which.stride[d]);
  }
  const std::int64_t offset = entries.storage_offset() + first * which.stride[0] * entries.stride(2);
  return entries.as_strided(sizes, strides, offset);
}

at::Tensor forward(const Convolution& which, std::int64_t columnBytes) {
  const Sizes positions = outputSizes(which);
  const std::int64_t batch = which.input.size(0);
  const std::int64_t depth = which.weight[0].numel();
  const std::int64_t perRow = which.groups * depth * product(positions) / positions[0] * which.input.element_size();
  const std::int64_t rows = std::clamp<std::int64_t>(columnBytes / std::max<std::int64_t>(perRow, 1), 1, positions[0]);
  const std::int64_t entries =
      rows < positions[0] ? 1 : std::clamp<std::int64_t>(columnBytes / (perRow * rows), 1, batch);
  const at::Tensor weight = which.weight.reshape({which.groups, which.outputChannels() / which.groups, depth});
  Sizes sizes = {batch, which.outputChannels(), positions[0], product(positions) / positions[0]};
  at::Tensor output = at::empty(sizes, which.input.options());
  for (std::int64_t begin = 0; begin < batch; begin += entries) {
    const std::int64_t count = std::min(entries, batch - begin);
    const Wiped part(padded(which, which.input.narrow(0, begin, count)));
    for (std::int64_t row = 0; row < positions[0]; row += rows) {
      Sizes some = positions;
      some[0] = std::min(rows, positions[0] - row);
      const Wiped columns(windows(which, *part, some, row).reshape({count * which.groups, depth, product(some)}));
      const Wiped made(at::bmm(weightsFor(weight, count), *columns));
      output.narrow(0, begin, count).narrow(2, row, some[0]).copy_(made->view({count, sizes[1], some[0], sizes[3]}));
    }
  }
  Sizes shape = {batch, which.outputChannels()};
  shape.insert(shape.end(), positions.begin(), positions.end());
  return output.view(shape);
}

// ---- each input position spread over what the kernel covers in the output, one place of the kernel after the other
Sizes placeOf(const Convolution& which, std::int64_t index) {
  Sizes place(which.dimensions());
  for (std::size_t d = which.dimensions(); d-- > 0;) {
    place[d] = index % which.kernel(d);
    index /= which.kernel(d);
  }
  return place;
}

// Where one place of the kernel puts all input positions.
at::Tensor targets(const Convolution& which, at::Tensor whole, const Sizes& place) {
  for (std::size_t d = 0; d < which.dimensions(); ++d) {
    const std::int64_t first = place[d] * which.dilation[d];
    whole = whole.slice(static_cast<std::int64_t>(d) + 2, first, first + (which.extent(d) - 1) * which.stride[d] + 1,
                        which.stride[d]);
  }
  return whole;
}

at::Tensor transposedPart(const Convolution& which, const at::Tensor& entries, const at::Tensor& weight) {
  Sizes sizes = {entries.size(0), which.outputChannels()};
  for (std::size_t d = 0; d < which.dimensions(); ++d) {
    sizes.push_back((which.extent(d) - 1) * which.stride[d] + which.reach(d) + which.outputPadding[d]);
  }
  at::Tensor whole = at::zeros(sizes, entries.options());
  const std::int64_t groupChannels = entries.size(1) / which.groups;
  const at::Tensor flat = entries.reshape({entries.size(0) * which.groups, groupChannels, -1});
  for (std::int64_t index = 0; index < weight.size(3); ++index) {
    const at::Tensor turned = weight.select(3, index).transpose(1, 2).contiguous();
    const Wiped made(at::bmm(weightsFor(turned, entries.size(0)), flat));
    at::Tensor into = targets(which, whole, placeOf(which, index));
    into.add_(made->view(into.sizes()));
  }
  for (std::size_t d = 0; d < which.dimensions(); ++d) {
    const auto dimension = static_cast<std::int64_t>(d) + 2;
    whole = whole.narrow(dimension, which.padding[d], whole.size(dimension) - 2 * which.padding[d]);
  }
  return whole;
}

at::Tensor transposed(const Convolution& which, std::int64_t columnBytes) {
  const std::int64_t batch = which.input.size(0);
  const std::int64_t perEntry = which.input[0].numel() / which.input.size(1) * which.outputChannels() *
                                product(which.stride) * which.input.element_size();
  const std::int64_t entries = std::clamp<std::int64_t>(columnBytes / std::max<std::int64_t>(perEntry, 1), 1, batch);
  const std::int64_t groupChannels = which.input.size(1) / which.groups;
  const at::Tensor weight = which.weight.reshape({which.groups, groupChannels, which.weight.size(1), -1});
  at::Tensor output;
  for (std::int64_t begin = 0; begin < batch; begin += entries) {
    const std::int64_t count = std::min(entries, batch - begin);
    const Wiped part(transposedPart(which, which.input.narrow(0, begin, count), weight));
    if (!output.defined()) {
      Sizes sizes = part->sizes().vec();
      sizes[0] = batch;
      output = at::empty(sizes, part->options());
    }
    output.narrow(0, begin, count).copy_(*part);
  }
  return output;
}

}  // namespace

std::optional<at::Tensor> wideConvolution(const std::string& op, const torch::jit::Stack& arguments,
                                          std::int64_t columnBytes) {
  const auto which = read(op, arguments);
  if (!which || which->input.numel() == 0 || which->weight.numel() == 0 || !isWorthwhile(*which)) {
    return std::nullopt;
  }
  at::Tensor output = which->isTransposed ? transposed(*which, columnBytes) : forward(*which, columnBytes);
  if (which->bias) {
    Sizes shape(static_cast<std::size_t>(output.dim()), 1);
    shape[1] = -1;
    output.add_(which->bias->view(shape));
  }
  return output;
}

}  // namespace swage::verify
