// SPDX-License-Identifier: Apache-2.0
#include "core/domain/graph.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace swage::domain {

std::int64_t TensorType::elementCount() const {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

std::int64_t TensorType::byteCount() const {
  return elementCount() * static_cast<std::int64_t>(byteSize(dtype));
}

bool TensorType::isContiguous() const {
  if (shape.size() != strides.size()) {
    return false;
  }
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) {
    return true;
  }
  std::int64_t expected = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (shape[i] == 1) {
      continue;
    }
    if (strides[i] != expected) {
      return false;
    }
    expected *= shape[i];
  }
  return true;
}

TensorType contiguousTensor(ScalarType dtype, Shape shape) {
  TensorType type{dtype, std::move(shape), {}};
  type.strides.resize(type.shape.size());
  std::int64_t stride = 1;
  for (std::size_t i = type.shape.size(); i-- > 0;) {
    type.strides[i] = stride;
    // As PyTorch does: a dimension of size 0 does not make the strides before it zero.
    stride *= std::max<std::int64_t>(type.shape[i], 1);
  }
  return type;
}

void collectValues(const Argument& argument, std::vector<ValueId>& into) {
  if (const auto* id = std::get_if<ValueId>(&argument.value)) {
    into.push_back(*id);
  } else if (const auto* list = std::get_if<ArgumentList>(&argument.value)) {
    for (const Argument& item : *list) {
      collectValues(item, into);
    }
  }
}

std::vector<ValueId> inputsOf(const Node& node) {
  std::vector<ValueId> ids;
  for (const Argument& argument : node.args) {
    collectValues(argument, ids);
  }
  for (const auto& [key, argument] : node.kwargs) {
    collectValues(argument, ids);
  }
  return ids;
}

}  // namespace swage::domain
