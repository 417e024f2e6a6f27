// SPDX-License-Identifier: Apache-2.0
#include "core/device/replay.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "core/base/random.h"
#include "core/device/cuda_driver.h"
#include "core/device/cuda_module.h"

namespace swage::device {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{4} << 20U;  // the numbers repeat after so many bytes

std::size_t index(domain::ValueId id) {
  return static_cast<std::size_t>(id.value());
}

// From the first element to the last, whatever the strides.
std::size_t extentBytes(const domain::TensorType& type) {
  std::int64_t last = 0;
  for (std::size_t i = 0; i < type.shape.size(); ++i) {
    if (type.shape[i] == 0) {
      return 0;
    }
    last += (type.shape[i] - 1) * type.strides[i];
  }
  return (static_cast<std::size_t>(last) + 1) * domain::byteSize(type.dtype);
}

// Sign and mantissa at random, the exponent that of 0.5: one rule for every floating type.
template <class Bits>
void fillNumbers(std::vector<unsigned char>& block, Bits half, Bits mantissa, Random& random) {
  constexpr auto kSign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
  for (std::size_t at = 0; at + sizeof(Bits) <= block.size(); at += sizeof(Bits)) {
    const std::uint64_t drawn = random.next();
    const auto value =
        static_cast<Bits>(half | (static_cast<Bits>(drawn) & mantissa) | ((drawn >> 63U) != 0 ? kSign : Bits{0}));
    std::memcpy(block.data() + at, &value, sizeof value);
  }
}

std::vector<unsigned char> numbersOf(domain::ScalarType type, std::size_t bytes, Random& random) {
  std::vector<unsigned char> block(std::min(bytes, kBlockBytes), 0);
  switch (type) {
    case domain::ScalarType::Float16: fillNumbers<std::uint16_t>(block, 0x3800, 0x03FF, random); break;
    case domain::ScalarType::BFloat16: fillNumbers<std::uint16_t>(block, 0x3F00, 0x007F, random); break;
    case domain::ScalarType::Float32: fillNumbers<std::uint32_t>(block, 0x3F000000U, 0x007FFFFFU, random); break;
    case domain::ScalarType::Float64:
      fillNumbers<std::uint64_t>(block, 0x3FE0000000000000U, 0x000FFFFFFFFFFFFFU, random);
      break;
    default: break;
  }
  return block;
}

// The buffers that hold something before the kernel steps that use them.
std::set<domain::ValueId> filledBuffers(const domain::LaunchPlan& plan) {
  std::set<domain::ValueId> filled(plan.inputs.begin(), plan.inputs.end());
  for (const domain::PlanStep& step : plan.steps) {
    if (const auto* call = std::get_if<domain::AtenStep>(&step)) {
      filled.insert(call->node.outputs.begin(), call->node.outputs.end());
    }
  }
  filled.erase(domain::ValueId());
  return filled;
}

class Replay {
 public:
  Replay(const CudaDriver& driver, const domain::LaunchPlan& plan) : m_driver(driver), m_plan(plan) {}
  ~Replay() {
    for (const CUdeviceptr address : m_addresses) {
      if (address != 0 && m_driver.cuMemFree(address) != CUDA_SUCCESS) {
        return;  // a kernel has destroyed the context, which was reported
      }
    }
  }
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  [[nodiscard]] Result<> bind(KernelModule& module);
  [[nodiscard]] bool usesSharedMemory() const;
  [[nodiscard]] Result<> allocate();
  [[nodiscard]] Result<int> run();

 private:
  [[nodiscard]] Result<> check(CUresult code, ErrorKind kind, std::string_view attempted) const;
  [[nodiscard]] Result<> fill(std::size_t buffer, Random& random);
  [[nodiscard]] Result<> launch(Kernel& kernel, const domain::KernelStep& step);

  const CudaDriver& m_driver;
  const domain::LaunchPlan& m_plan;
  std::vector<std::unique_ptr<Kernel>> m_kernels;  // one for each kernel step, in order
  std::vector<CUdeviceptr> m_addresses;
};

Result<> Replay::check(CUresult code, ErrorKind kind, std::string_view attempted) const {
  if (code == CUDA_SUCCESS) {
    return {};
  }
  return Error(kind, fmt::format("cannot {}: {}", attempted, m_driver.describe(code)));
}

Result<> Replay::bind(KernelModule& module) {
  for (const domain::PlanStep& step : m_plan.steps) {
    if (const auto* kernel = std::get_if<domain::KernelStep>(&step)) {
      auto bound = module.bind(*kernel);
      if (!bound) {
        return Error(ErrorKind::InvalidInput, bound.error().detail);
      }
      m_kernels.push_back(std::move(*bound));
    }
  }
  return {};
}

bool Replay::usesSharedMemory() const {
  return std::any_of(m_kernels.begin(), m_kernels.end(), [](const std::unique_ptr<Kernel>& kernel) {
    const std::optional<KernelResources> resources = kernel->resources();
    return !resources || resources->staticSharedBytes + resources->dynamicSharedBytes > 0;
  });
}

Result<> Replay::allocate() {
  Random random(1);
  m_addresses.assign(m_plan.buffers.size(), 0);
  const std::set<domain::ValueId> filled = filledBuffers(m_plan);
  for (const domain::ValueId buffer : domain::buffersOfKernels(m_plan)) {
    const std::size_t i = index(buffer);
    const std::size_t bytes = std::max<std::size_t>(extentBytes(m_plan.buffers[i]), 1);
    SWAGE_TRY(check(m_driver.cuMemAlloc(&m_addresses[i], bytes), ErrorKind::Environment,
                    fmt::format("allocate buffer {} of {} bytes", i, bytes)));
    if (filled.contains(buffer)) {
      SWAGE_TRY(fill(i, random));
    }
  }
  return {};
}

Result<> Replay::fill(std::size_t buffer, Random& random) {
  const std::size_t bytes = extentBytes(m_plan.buffers[buffer]);
  const std::vector<unsigned char> block = numbersOf(m_plan.buffers[buffer].dtype, bytes, random);
  for (std::size_t done = 0; done < bytes; done += block.size()) {
    SWAGE_TRY(
        check(m_driver.cuMemcpyHtoD(m_addresses[buffer] + done, block.data(), std::min(block.size(), bytes - done)),
              ErrorKind::Environment, "fill an input"));
  }
  return {};
}

Result<> Replay::launch(Kernel& kernel, const domain::KernelStep& step) {
  std::vector<domain::KernelArgument> values = step.arguments;
  std::vector<CUdeviceptr> addresses(values.size(), 0);
  std::vector<void*> arguments;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (const std::optional<domain::ValueId> buffer = domain::bufferOf(values[i])) {
      addresses[i] = m_addresses[index(*buffer)];
      arguments.push_back(&addresses[i]);
    } else {
      arguments.push_back(std::visit([](auto& value) { return static_cast<void*>(&value); }, values[i]));
    }
  }
  if (const DeviceStatus failed = kernel.launch(arguments.data())) {
    return Error(ErrorKind::InvalidInput, fmt::format("{}: {}", step.entry, failed->detail));
  }
  return check(m_driver.cuCtxSynchronize(), ErrorKind::InvalidInput, fmt::format("run '{}' to its end", step.entry));
}

Result<int> Replay::run() {
  std::size_t launched = 0;
  for (const domain::PlanStep& step : m_plan.steps) {
    if (const auto* kernel = std::get_if<domain::KernelStep>(&step)) {
      SWAGE_TRY(launch(*m_kernels[launched++], *kernel));
    } else if (const auto* zero = std::get_if<domain::ZeroStep>(&step)) {
      const std::size_t bytes = extentBytes(m_plan.buffers[index(zero->buffer)]);
      if (bytes > 0) {
        SWAGE_TRY(check(m_driver.cuMemsetD8Async(m_addresses[index(zero->buffer)], 0, bytes, nullptr),
                        ErrorKind::Environment, "zero a buffer"));
      }
    }
  }
  return static_cast<int>(launched);
}

Result<> enterContext(const CudaDriver& driver, int ordinal, CUdevice& device) {
  CUcontext context = nullptr;
  for (const CUresult code : {driver.cuDeviceGet(&device, ordinal), driver.cuDevicePrimaryCtxRetain(&context, device),
                              driver.cuCtxSetCurrent(context)}) {
    if (code != CUDA_SUCCESS) {
      return Error(ErrorKind::Environment,
                   fmt::format("cannot use CUDA device {}: {}", ordinal, driver.describe(code)));
    }
  }
  return {};
}

}  // namespace

Result<int> replayKernels(const domain::LaunchPlan& plan, const std::string& binary, int ordinal, ReplayIf condition) {
  SWAGE_TRY_ASSIGN(const CudaDriver* driver, CudaDriver::load());
  CUdevice device = 0;
  SWAGE_TRY(enterContext(*driver, ordinal, device));
  int sharedBytes = 0;
  if (driver->cuDeviceGetAttribute(&sharedBytes, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, device) !=
      CUDA_SUCCESS) {
    return Error(ErrorKind::Environment, "cannot ask the device for its shared memory");
  }
  auto module = CudaModule::load(*driver, binary, sharedBytes, {});  // nobody asks for its occupancy
  if (!module) {
    return Error(ErrorKind::InvalidInput, module.error().detail);
  }
  Replay replay(*driver, plan);
  SWAGE_TRY(replay.bind(**module));
  if (condition == ReplayIf::UsesSharedMemory && !replay.usesSharedMemory()) {
    return 0;
  }
  SWAGE_TRY(replay.allocate());
  return replay.run();
}

}  // namespace swage::device
