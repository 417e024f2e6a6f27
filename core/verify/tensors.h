// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "core/domain/graph.h"

// Between domain types and tensors. Functions that call libtorch may throw c10::Error; callers run under attempt().
namespace swage::verify {

[[nodiscard]] at::ScalarType toTorch(domain::ScalarType type);

// Uninitialised, with exactly the strides of `type`.
[[nodiscard]] at::Tensor emptyTensor(const domain::TensorType& type, c10::Device device);
// Copies all elements, also where a dimension of the target has no stride, as expand() leaves it, and so one element in
// memory: copy_() refuses that.
void copyInto(at::Tensor to, at::Tensor from);
// Asks the system to back a large fresh CPU tensor by 2 MiB pages, as the exported file does for the buffers of its
// kernels: the first write to a block of 4 KiB pages takes a fault for each, which costs more than the arithmetic.
void adviseHugePages(const at::Tensor& tensor);

// Bytes from the first element to the end of the last.
[[nodiscard]] std::int64_t extentBytes(const domain::TensorType& type);

[[nodiscard]] bool hasShapeAndType(const at::Tensor& tensor, const domain::TensorType& type);
[[nodiscard]] bool hasStrides(const at::Tensor& tensor, const domain::TensorType& type);

// The elements in logical order as integers of the same size: for bitwise comparison. Copies when not contiguous.
[[nodiscard]] at::Tensor flatBits(const at::Tensor& tensor);

// Of all bits of the tensors, as integers: differs when something was overwritten by accident.
[[nodiscard]] std::int64_t bitSum(std::span<const at::Tensor> tensors);

// The same for each tensor, on its device and without waiting for it; they are added up modulo 2^64.
[[nodiscard]] std::vector<at::Tensor> bitSums(std::span<const at::Tensor> tensors);
// Whether any bit of a tensor differs from the one at the same place on the other side, which is of its shape and type:
// a flag of each, on its device and without waiting for it.
[[nodiscard]] std::vector<at::Tensor> differing(std::span<const at::Tensor> now, std::span<const at::Tensor> before);

}  // namespace swage::verify
