// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/domain/graph.h"
#include "core/domain/tensor_map.h"

// The ordered steps of a candidate. There is no host code in a candidate beside this data.
namespace swage::domain {

struct Dim3 {
  std::uint32_t x = 1;
  std::uint32_t y = 1;
  std::uint32_t z = 1;
  friend bool operator==(const Dim3&, const Dim3&) = default;
};

struct Int32 {
  std::int32_t value = 0;
  friend bool operator==(const Int32&, const Int32&) = default;
};

// A kernel argument: the address of a buffer's first element, a scalar passed by value, or, on CUDA devices, a tensor
// map of 128 bytes, aligned to as many, passed by value. Whoever launches encodes the map for the address that the
// buffer has then; the kernel declares it as `const __grid_constant__ TensorMap name` (patterns/cuda/helpers.cuh).
using KernelArgument = std::variant<ValueId, Int32, std::int64_t, float, double, TensorMap>;

// The buffer whose address or map the argument is, if it is one.
[[nodiscard]] std::optional<ValueId> bufferOf(const KernelArgument& argument);

inline constexpr std::size_t kTensorMapBytes = 128;
inline constexpr std::size_t kTensorMapAlignment = 128;

// One kernel launch. `cpu` kernels are `extern "C" void entry(void** arguments)`, with the same
// array of pointers to arguments that cuLaunchKernel takes; their geometry is 1 and OpenMP does the rest.
struct KernelStep {
  std::string entry;
  Dim3 grid;
  Dim3 block;
  Dim3 cluster;  // (1,1,1): no cluster launch
  std::uint32_t dynamicSharedBytes = 0;
  bool cooperative = false;
  std::vector<KernelArgument> arguments;
  friend bool operator==(const KernelStep&, const KernelStep&) = default;
};

// A whitelisted ATen call; the ids in `node` are plan buffers. Its results replace the buffers of its outputs.
struct AtenStep {
  Node node;
  friend bool operator==(const AtenStep&, const AtenStep&) = default;
};

// Sets a buffer to zero bytes.
struct ZeroStep {
  ValueId buffer;
  friend bool operator==(const ZeroStep&, const ZeroStep&) = default;
};

using PlanStep = std::variant<KernelStep, AtenStep, ZeroStep>;

struct LaunchPlan {
  // All tensors of the plan, indexed by ValueId. The first ones are the graph's values under their own ids;
  // scratch buffers follow. Kernel outputs and scratch are allocated with exactly this type before the first step.
  std::vector<TensorType> buffers;
  std::vector<ValueId> inputs;   // one for each graph input, in order
  std::vector<ValueId> outputs;  // one for each graph output, in order
  std::vector<PlanStep> steps;
  // Whether all steps are issued at once, as a CUDA graph that was captured from them: a launch of its own for each
  // costs the host more than the device needs for a small kernel. User inputs are copied to where the graph reads them,
  // outputs are copied out of it.
  bool isCaptured = false;

  [[nodiscard]] int launchCount() const;  // kernel and ATen steps
  [[nodiscard]] bool hasKernels() const;
  friend bool operator==(const LaunchPlan&, const LaunchPlan&) = default;
};

// The buffers that kernel and zero steps name, each once, in ascending order. Values that a fused kernel never makes
// are not among them.
[[nodiscard]] std::vector<ValueId> buffersOfKernels(const LaunchPlan& plan);

// Checks ids, entry points and geometry, so that a plan from a database or a wire cannot make the worker index out of
// range. Returns an empty string or what is wrong.
[[nodiscard]] std::string findDefect(const LaunchPlan& plan);

}  // namespace swage::domain
