// SPDX-License-Identifier: Apache-2.0
#include "core/device/cuda_module.h"

#include <array>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "core/base/log.h"
#include "core/device/tensor_maps.h"
#include "core/domain/cubins.h"

namespace swage::device {
namespace {

constexpr std::int64_t kSharedBytesWithoutOptIn = std::int64_t{48} << 10U;
constexpr std::uint32_t kPortableClusterBlocks = 8;

std::size_t bytesOf(const domain::KernelArgument& argument) {
  struct Size {
    std::size_t operator()(domain::ValueId) const { return sizeof(CUdeviceptr); }
    std::size_t operator()(domain::Int32) const { return 4; }
    std::size_t operator()(std::int64_t) const { return 8; }
    std::size_t operator()(float) const { return 4; }
    std::size_t operator()(double) const { return 8; }
    std::size_t operator()(const domain::TensorMap&) const { return sizeof(CUtensorMap); }
  };
  return std::visit(Size(), argument);
}

std::uint32_t blocksOf(const domain::Dim3& cluster) {
  return cluster.x * cluster.y * cluster.z;
}

class CudaKernel final : public Kernel {
 public:
  CudaKernel(const CudaDriver& driver, CUfunction function, const domain::KernelStep& step,
             const MultiprocessorLimits& limits, const CUstream& stream)
      : m_driver(driver), m_function(function), m_limits(limits), m_stream(stream), m_maps(driver, step) {
    m_config.gridDimX = step.grid.x;
    m_config.gridDimY = step.grid.y;
    m_config.gridDimZ = step.grid.z;
    m_config.blockDimX = step.block.x;
    m_config.blockDimY = step.block.y;
    m_config.blockDimZ = step.block.z;
    m_config.sharedMemBytes = step.dynamicSharedBytes;
    m_config.attrs = m_attributes.data();
    if (blocksOf(step.cluster) > 1) {
      CUlaunchAttribute& attribute = m_attributes[m_config.numAttrs++];
      attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
      attribute.value.clusterDim.x = step.cluster.x;
      attribute.value.clusterDim.y = step.cluster.y;
      attribute.value.clusterDim.z = step.cluster.z;
    }
    if (step.cooperative) {
      CUlaunchAttribute& attribute = m_attributes[m_config.numAttrs++];
      attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
      attribute.value.cooperative = 1;
    }
  }

  [[nodiscard]] DeviceStatus launch(void** arguments) override {
    m_config.hStream = m_stream;
    if (!m_maps.isEmpty()) {
      if (DeviceStatus failed = m_maps.encode(arguments, m_encoded)) {
        return failed;
      }
      arguments = m_encoded.data();
    }
    return m_driver.check(m_driver.cuLaunchKernelEx(&m_config, m_function, arguments, nullptr), "launch the kernel");
  }

  [[nodiscard]] std::optional<KernelResources> resources() const override {
    KernelResources found;
    found.registers = attributeOf(CU_FUNC_ATTRIBUTE_NUM_REGS);
    found.localBytes = attributeOf(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
    found.staticSharedBytes = attributeOf(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
    found.dynamicSharedBytes = m_config.sharedMemBytes;
    const auto threads = static_cast<int>(m_config.blockDimX * m_config.blockDimY * m_config.blockDimZ);
    found.occupancy =
        occupancyOf(m_limits, {threads, found.registers, found.staticSharedBytes + found.dynamicSharedBytes});
    int blocks = 0;
    const auto ask = m_driver.cuOccupancyMaxActiveBlocksPerMultiprocessor;
    if (ask != nullptr && ask(&blocks, m_function, threads, m_config.sharedMemBytes) == CUDA_SUCCESS && blocks > 0) {
      found.occupancy.useBlocks(blocks);  // the driver has the last word
    }
    return found;
  }

 private:
  [[nodiscard]] int attributeOf(CUfunction_attribute attribute) const {
    int value = 0;
    return m_driver.cuFuncGetAttribute(&value, attribute, m_function) == CUDA_SUCCESS ? value : 0;
  }

  const CudaDriver& m_driver;
  CUfunction m_function;
  MultiprocessorLimits m_limits;
  const CUstream& m_stream;
  std::array<CUlaunchAttribute, 2> m_attributes{};
  CUlaunchConfig m_config{};
  TensorMaps m_maps;
  std::vector<void*> m_encoded;  // arguments with maps in the place of addresses
};

}  // namespace

DeviceResult<std::unique_ptr<KernelModule>> CudaModule::load(const CudaDriver& driver, std::string_view binary,
                                                             std::int64_t sharedBytesPerBlock,
                                                             const MultiprocessorLimits& limits,
                                                             const CUstream& stream) {
  if (binary.empty()) {
    return tl::make_unexpected(DeviceFailure{"the candidate has no binary"});
  }
  std::unique_ptr<CudaModule> loaded(new CudaModule(driver, sharedBytesPerBlock, limits, stream));
  for (const std::string_view cubin : domain::cubinsIn(binary)) {
    if (DeviceStatus failed = loaded->add(cubin)) {
      return tl::make_unexpected(std::move(*failed));
    }
  }
  return std::unique_ptr<KernelModule>(std::move(loaded));
}

DeviceStatus CudaModule::add(std::string_view cubin) {
  CUmodule module = nullptr;
  // The driver reads an image to the end that its header tells; a text that is none ends at its terminator.
  const CUresult code = m_driver.cuModuleLoadData(&module, std::string(cubin).c_str());
  if (DeviceStatus failed = m_driver.check(code, "load the cubin")) {
    if (code == CUDA_ERROR_NO_BINARY_FOR_GPU || code == CUDA_ERROR_UNSUPPORTED_PTX_VERSION) {
      failed->detail += "; it was compiled for another architecture than this device's, or is newer than its driver";
    }
    return failed;
  }
  m_modules.push_back(module);
  return std::nullopt;
}

CudaModule::~CudaModule() {
  for (const CUmodule module : m_modules) {
    if (const DeviceStatus failed = m_driver.check(m_driver.cuModuleUnload(module), "unload the cubin")) {
      log::debug("{}", failed->detail);  // the context is gone, and whoever poisoned it has been reported
    }
  }
}

CUresult CudaModule::find(const std::string& entry, CUfunction& function) const {
  CUresult code = CUDA_ERROR_NOT_FOUND;
  for (std::size_t i = 0; i < m_modules.size() && code == CUDA_ERROR_NOT_FOUND; ++i) {
    code = m_driver.cuModuleGetFunction(&function, m_modules[i], entry.c_str());
  }
  return code;
}

DeviceResult<std::unique_ptr<Kernel>> CudaModule::bind(const domain::KernelStep& step) {
  CUfunction function = nullptr;
  const CUresult code = find(step.entry, function);
  if (DeviceStatus failed = m_driver.check(code, fmt::format("find the entry '{}'", step.entry))) {
    return tl::make_unexpected(std::move(*failed));
  }
  if (DeviceStatus failed = checkParameters(function, step)) {
    return tl::make_unexpected(std::move(*failed));
  }
  if (DeviceStatus failed = TensorMaps(m_driver, step).check()) {
    return tl::make_unexpected(std::move(*failed));
  }
  if (DeviceStatus failed = allowResources(function, step)) {
    return tl::make_unexpected(std::move(*failed));
  }
  return std::make_unique<CudaKernel>(m_driver, function, step, m_limits, m_stream);
}

// The driver copies as many bytes for each parameter as the kernel declares, so they must be the plan's.
DeviceStatus CudaModule::checkParameters(CUfunction function, const domain::KernelStep& step) const {
  std::size_t offset = 0;
  std::size_t size = 0;
  for (std::size_t i = 0; i < step.arguments.size(); ++i) {
    if (m_driver.cuFuncGetParamInfo(function, i, &offset, &size) != CUDA_SUCCESS) {
      return DeviceFailure{
          fmt::format("'{}' takes {} parameters, the plan gives {}", step.entry, i, step.arguments.size())};
    }
    if (size != bytesOf(step.arguments[i])) {
      return DeviceFailure{fmt::format("parameter {} of '{}' has {} bytes, the plan gives {}", i, step.entry, size,
                                       bytesOf(step.arguments[i]))};
    }
  }
  if (m_driver.cuFuncGetParamInfo(function, step.arguments.size(), &offset, &size) == CUDA_SUCCESS) {
    return DeviceFailure{
        fmt::format("'{}' takes more than the {} parameters that the plan gives", step.entry, step.arguments.size())};
  }
  return std::nullopt;
}

DeviceStatus CudaModule::allowResources(CUfunction function, const domain::KernelStep& step) const {
  int staticBytes = 0;
  int maxThreads = 0;
  if (DeviceStatus failed =
          m_driver.check(m_driver.cuFuncGetAttribute(&staticBytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function),
                         "ask for its size")) {
    return failed;
  }
  if (DeviceStatus failed =
          m_driver.check(m_driver.cuFuncGetAttribute(&maxThreads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function),
                         "ask for its threads")) {
    return failed;
  }
  const std::uint64_t threads = std::uint64_t{step.block.x} * step.block.y * step.block.z;
  if (threads > static_cast<std::uint64_t>(maxThreads)) {
    return DeviceFailure{
        fmt::format("'{}' runs with at most {} threads in a block, not {}", step.entry, maxThreads, threads)};
  }
  const std::int64_t shared = std::int64_t{staticBytes} + step.dynamicSharedBytes;
  if (shared > m_sharedBytesPerBlock) {
    return DeviceFailure{fmt::format("'{}' needs {} bytes of shared memory, a block can have {}", step.entry, shared,
                                     m_sharedBytesPerBlock)};
  }
  if (shared > kSharedBytesWithoutOptIn) {
    const CUresult code = m_driver.cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                                      static_cast<int>(step.dynamicSharedBytes));
    if (DeviceStatus failed = m_driver.check(code, "allow more shared memory")) {
      return failed;
    }
  }
  if (blocksOf(step.cluster) > kPortableClusterBlocks) {
    return m_driver.check(m_driver.cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1),
                          "allow a cluster of more than 8 blocks");
  }
  return std::nullopt;
}

}  // namespace swage::device
