// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>

#include "core/domain/graph.h"

// Between domain types and tensors. Functions that call libtorch may throw c10::Error; callers run under attempt().
namespace swage::verify {

[[nodiscard]] at::ScalarType toTorch(domain::ScalarType type);

// Uninitialised, with exactly the strides of `type`.
[[nodiscard]] at::Tensor emptyTensor(const domain::TensorType& type, c10::Device device);
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

// What takes a GPU while the host goes on: the result is copied to the host behind everything that was asked of the
// device before, and may be read once the device has been waited for. On a CPU it is there at once.
[[nodiscard]] at::Tensor onItsWayToHost(const at::Tensor& small);
// bitSum() as a tensor on its way to the host; read by wordOf().
[[nodiscard]] at::Tensor beginBitSum(std::span<const at::Tensor> tensors);
[[nodiscard]] std::int64_t wordOf(const at::Tensor& sum);

}  // namespace swage::verify
