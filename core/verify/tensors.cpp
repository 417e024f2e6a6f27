// SPDX-License-Identifier: Apache-2.0
#include "core/verify/tensors.h"

#include <ATen/ops/empty_strided.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/stack.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <vector>

namespace swage::verify {
namespace {

// On a GPU as few and as wide words as the tensor has: PyTorch adds up 64-bit integers in place, narrower ones in a
// copy. Not on a CPU: in the few runs of the mutants that were made either way, fewer planted races went unseen beside
// the copy.
at::Tensor words(const at::Tensor& tensor) {
  const at::Tensor bits = flatBits(tensor);
  constexpr std::int64_t kWord = 8;
  const std::int64_t size = bits.element_size();
  const bool isWhole = bits.is_cuda() && bits.numel() * size % kWord == 0 && bits.storage_offset() * size % kWord == 0;
  return isWhole ? bits.view(at::kLong) : bits;
}

}  // namespace

at::ScalarType toTorch(domain::ScalarType type) {
  static constexpr std::array kTypes = {at::kBool, at::kByte, at::kChar,     at::kShort, at::kInt,
                                        at::kLong, at::kHalf, at::kBFloat16, at::kFloat, at::kDouble};
  return kTypes[static_cast<std::size_t>(type)];
}

at::Tensor emptyTensor(const domain::TensorType& type, c10::Device device) {
  return at::empty_strided(type.shape, type.strides, at::TensorOptions().dtype(toTorch(type.dtype)).device(device));
}

void copyInto(at::Tensor to, at::Tensor from) {
  for (std::int64_t dimension = 0; dimension < to.dim(); ++dimension) {
    if (to.stride(dimension) == 0 && to.size(dimension) > 1) {
      to = to.narrow(dimension, 0, 1);
      from = from.narrow(dimension, 0, 1);
    }
  }
  to.copy_(from);
}

void adviseHugePages(const at::Tensor& tensor) {
  constexpr std::uintptr_t kHuge = std::uintptr_t{2} << 20U;
  constexpr std::size_t kWorthwhile = std::size_t{4} << 20U;
  if (!tensor.is_cpu() || tensor.storage().nbytes() < kWorthwhile) {
    return;
  }
  const auto address = reinterpret_cast<std::uintptr_t>(tensor.data_ptr());
  const std::uintptr_t begin = (address + kHuge - 1) / kHuge * kHuge;
  const std::uintptr_t end = (address + tensor.storage().nbytes()) / kHuge * kHuge;
  if (end > begin) {
    // Advice only: where it is refused nothing but time is lost.
    static_cast<void>(::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE));
  }
}

std::int64_t extentBytes(const domain::TensorType& type) {
  std::int64_t last = 0;
  for (std::size_t i = 0; i < type.shape.size(); ++i) {
    if (type.shape[i] == 0) {
      return 0;
    }
    last += (type.shape[i] - 1) * type.strides[i];
  }
  return (last + 1) * static_cast<std::int64_t>(domain::byteSize(type.dtype));
}

bool hasShapeAndType(const at::Tensor& tensor, const domain::TensorType& type) {
  return tensor.scalar_type() == toTorch(type.dtype) && tensor.sizes() == at::IntArrayRef(type.shape);
}

bool hasStrides(const at::Tensor& tensor, const domain::TensorType& type) {
  for (std::int64_t i = 0; i < tensor.dim(); ++i) {
    if (tensor.size(i) > 1 && tensor.stride(i) != type.strides[static_cast<std::size_t>(i)]) {
      return false;
    }
  }
  return true;
}

at::Tensor flatBits(const at::Tensor& tensor) {
  const at::Tensor flat = tensor.contiguous().view(-1);
  switch (flat.element_size()) {
    case 1: return flat.view(at::kByte);
    case 2: return flat.view(at::kShort);
    case 4: return flat.view(at::kInt);
    default: return flat.view(at::kLong);
  }
}

std::int64_t bitSum(std::span<const at::Tensor> tensors) {
  const std::vector<at::Tensor> sums = bitSums(tensors);
  return sums.empty() ? 0 : at::stack(sums).sum().item<std::int64_t>();
}

std::vector<at::Tensor> bitSums(std::span<const at::Tensor> tensors) {
  std::vector<at::Tensor> sums;
  std::transform(tensors.begin(), tensors.end(), std::back_inserter(sums),
                 [](const at::Tensor& tensor) { return words(tensor).sum(at::kLong); });
  return sums;
}

std::vector<at::Tensor> differing(std::span<const at::Tensor> now, std::span<const at::Tensor> before) {
  std::vector<at::Tensor> flags;
  for (std::size_t i = 0; i < now.size(); ++i) {
    at::Tensor a = words(now[i]);
    at::Tensor b = words(before[i]);
    if (a.scalar_type() != b.scalar_type()) {  // where one of them begins, no wide word does
      a = flatBits(now[i]);
      b = flatBits(before[i]);
    }
    flags.push_back(a.is_cuda() ? a.ne(b).any() : at::scalar_tensor(!a.equal(b), at::kBool));
  }
  return flags;
}

}  // namespace swage::verify
