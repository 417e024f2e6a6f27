// SPDX-License-Identifier: Apache-2.0
#include "core/verify/wiped.h"

#include <limits>

#include "core/verify/torch_failure.h"

namespace swage::verify {
namespace {

// A view holds the tensor it was made from.
bool isSole(const at::Tensor& tensor) {
  const bool holdsBase = tensor.is_view() && tensor._base().use_count() == 1;
  return tensor.use_count() == 1 && tensor.storage().use_count() <= (holdsBase ? 2 : 1);
}

}  // namespace

void wipe(const at::Tensor& tensor) noexcept {
  if (!tensor.defined() || !tensor.has_storage() || !isSole(tensor)) {
    return;
  }
  static_cast<void>(attempt([&tensor] {
    if (tensor.is_floating_point()) {
      tensor.fill_(std::numeric_limits<double>::quiet_NaN());
    } else {
      tensor.fill_(-1);  // 0 is the answer too often
    }
  }));
}

WipedTensors& WipedTensors::operator=(WipedTensors&& other) noexcept {
  if (this != &other) {
    clear();
    m_tensors = std::exchange(other.m_tensors, {});
  }
  return *this;
}

void WipedTensors::clear() noexcept {
  for (at::Tensor& tensor : m_tensors) {
    wipe(tensor);
    tensor.reset();
  }
  m_tensors.clear();
}

}  // namespace swage::verify
