// SPDX-License-Identifier: Apache-2.0
#include "core/synth/library_estimate.h"

#include <algorithm>

#include "core/domain/aten.h"
#include "core/synth/cost_model.h"
#include "core/synth/node_view.h"

namespace swage::synth {
namespace {

double countOf(const domain::TensorType& type, std::size_t from = 0) {
  double count = 1.0;
  for (std::size_t dim = from; dim < type.shape.size(); ++dim) {
    count *= static_cast<double>(type.shape[dim]);
  }
  return count;
}

bool hasChannelsLast(const domain::TensorType& type) {
  return type.strides.size() > 2 && type.shape[1] > 1 && type.strides[1] == 1;
}

}  // namespace

// Fits convolutions of KernelBench on an H100: cuDNN takes tensor cores for NCHW, too, where there are enough channels,
// and gathers what a stride of a transposed one leaves out.
double libraryEstimate(const domain::Graph& graph, const domain::Node& node, const domain::DeviceInfo& device) {
  constexpr double kReached = 0.55;
  constexpr double kReachedLast = 0.75;
  constexpr double kFewChannels = 0.4;  // of that, of tensor cores that are not filled
  constexpr double kSpread = 0.17;      // where results are further apart than inputs
  constexpr std::int64_t kManyChannels = 32;
  constexpr double kReachedMemory = 0.8;
  const NodeView view(node, graph.values);
  const auto input = view.tensor(0, "input");
  const auto weight = view.tensor(1, "weight");
  if (device.kind != domain::DeviceKind::Cuda || !domain::isConvolution(node.op) || !input || !weight ||
      !view.result().isValid()) {
    return 0.0;
  }
  const domain::TensorType& from = view.type(*input);
  const domain::TensorType& to = view.type(view.result());
  const domain::TensorType& by = view.type(*weight);
  const DeviceRates rates = DeviceRates::of(device);
  const bool isSpread = countOf(to, 2) > 1.5 * countOf(from, 2);
  const bool isTransposed = isSpread || by.shape[0] != to.shape[1];
  const double products = countOf(isTransposed ? from : to) * countOf(by, 1);
  const bool isHalf = domain::byteSize(from.dtype) == 2;
  const double tensorAdds = rates.each.halfAdds * (isHalf ? 1.0 : 0.5);
  const bool areMany = by.shape[isTransposed ? 0 : 1] >= kManyChannels;
  const bool isLast = hasChannelsLast(to);
  double adds = isLast ? tensorAdds * kReachedLast * (areMany ? 1.0 : kFewChannels)
                       : (areMany ? tensorAdds : rates.each.floatAdds) * kReached;
  adds = std::max(adds, rates.each.floatAdds * kReached) * (isSpread ? kSpread : 1.0);
  const double bytes = countOf(from) * static_cast<double>(domain::byteSize(from.dtype)) +
                       countOf(to) * static_cast<double>(domain::byteSize(to.dtype));
  const double computing = products / (adds * static_cast<double>(rates.multiprocessors) * rates.cyclesPerSecond);
  return rates.launchSeconds + std::max(computing, bytes / (rates.bytesPerSecond * kReachedMemory));
}

}  // namespace swage::synth
