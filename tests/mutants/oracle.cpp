// SPDX-License-Identifier: Apache-2.0
// swage_mutant_oracle cpu|cuda: tells how far the outputs of one compiled plan are from those of another, without
// PyTorch and without any code that verifies candidates. Each line of standard input is a JSON object with "plan",
// "original" and "mutant" (files), "seed", "draws" and "repeats"; each gets one line as an answer. A mutant may end
// the process; whoever asks takes that for an answer.
#include <dlfcn.h>
#include <sys/mman.h>

#include <cmath>
#include <cstring>
#include <iostream>
#include <numbers>
#include <optional>

#include <fmt/format.h>

#include "core/base/files.h"
#include "core/base/random.h"
#include "core/device/open_device.h"
#include "core/domain/json.h"

namespace swage::testing {
namespace {

constexpr std::size_t kZone = 4096;  // before and behind each buffer
constexpr std::size_t kGuard = std::size_t{1} << 20U;
constexpr const char* kStopped = "the device stopped";
constexpr unsigned char kCanary = 0xA5;
constexpr unsigned char kPoison = 0xFF;  // NaN

// Memory that host and device can both read. Never freed one by one: the process is small and ends soon.
class Memory {
 public:
  explicit Memory(domain::DeviceKind kind) {
    if (kind == domain::DeviceKind::Cuda) {
      void* driver = ::dlopen("libcuda.so.1", RTLD_NOW);
      m_allocateManaged =
          driver == nullptr ? nullptr : reinterpret_cast<AllocateManaged>(::dlsym(driver, "cuMemAllocManaged"));
    }
    m_isCuda = kind == domain::DeviceKind::Cuda;
  }

  unsigned char* allocate(std::size_t bytes) const {
    if (m_isCuda) {
      unsigned long long address = 0;
      return m_allocateManaged != nullptr && m_allocateManaged(&address, bytes, 1) == 0
                 ? reinterpret_cast<unsigned char*>(address)
                 : nullptr;
    }
    const std::size_t pages = (bytes + 4095) / 4096 * 4096;
    void* block = ::mmap(nullptr, pages + 2 * kGuard, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) {
      return nullptr;
    }
    unsigned char* usable = static_cast<unsigned char*>(block) + kGuard;
    return ::mprotect(usable, pages, PROT_READ | PROT_WRITE) == 0 ? usable : nullptr;
  }

 private:
  using AllocateManaged = int (*)(unsigned long long*, std::size_t, unsigned);
  AllocateManaged m_allocateManaged = nullptr;
  bool m_isCuda = false;
};

struct Buffer {
  unsigned char* block = nullptr;
  std::size_t bytes = 0;
  [[nodiscard]] unsigned char* data() const { return block + kZone; }
};

union Value {
  void* address;
  std::int32_t int32;
  std::int64_t int64;
  float float32;
  double float64;
};

// One binary with its plan, bound to memory of its own.
class Runner {
 public:
  Runner(device::Device& device, const Memory& memory, const domain::LaunchPlan& plan)
      : m_device(device), m_plan(plan) {
    for (const domain::TensorType& type : plan.buffers) {
      const auto bytes = static_cast<std::size_t>(type.byteCount());
      m_buffers.push_back({memory.allocate(bytes + 2 * kZone), bytes});
    }
  }

  [[nodiscard]] bool load(const std::string& file) {
    auto binary = readTextFile(file);
    auto module = binary ? m_device.loadModule(*binary, m_plan)
                         : device::DeviceResult<std::unique_ptr<device::KernelModule>>(
                               tl::make_unexpected(device::DeviceFailure{binary.error().message()}));
    if (!module) {
      return false;
    }
    m_module = std::move(*module);
    return true;
  }

  // Poison everywhere, then inputs that only depend on the seed.
  void fill(std::uint64_t seed) {
    for (const Buffer& buffer : m_buffers) {
      std::memset(buffer.block, kCanary, buffer.bytes + 2 * kZone);
      std::memset(buffer.data(), kPoison, buffer.bytes);
    }
    Random random(seed);
    for (const domain::ValueId input : m_plan.inputs) {
      const Buffer& buffer = m_buffers[static_cast<std::size_t>(input.value())];
      auto* values = reinterpret_cast<float*>(buffer.data());
      for (std::size_t i = 0; i < buffer.bytes / sizeof(float); ++i) {
        // Box and Muller, "A note on the generation of random normal deviates", 1958.
        const double radius = std::sqrt(-2.0 * std::log(1.0 - random.unit()));
        values[i] = static_cast<float>(radius * std::cos(2.0 * std::numbers::pi * random.unit()));
      }
    }
  }

  [[nodiscard]] bool run() {
    for (const domain::PlanStep& step : m_plan.steps) {
      if (const auto* zero = std::get_if<domain::ZeroStep>(&step)) {
        const Buffer& buffer = m_buffers[static_cast<std::size_t>(zero->buffer.value())];
        if (m_device.fill(buffer.data(), 0, buffer.bytes)) {
          return false;
        }
      } else if (!launch(std::get<domain::KernelStep>(step))) {
        return false;
      }
    }
    return !m_device.synchronize();
  }

  [[nodiscard]] bool zonesIntact() const {
    for (const Buffer& buffer : m_buffers) {
      for (std::size_t i = 0; i < kZone; ++i) {
        if (buffer.block[i] != kCanary || buffer.data()[buffer.bytes + i] != kCanary) {
          return false;
        }
      }
    }
    return true;
  }
  [[nodiscard]] const Buffer& output(std::size_t index) const {
    return m_buffers[static_cast<std::size_t>(m_plan.outputs[index].value())];
  }
  [[nodiscard]] bool inputsAre(const Runner& other) const {
    for (const domain::ValueId input : m_plan.inputs) {
      const auto index = static_cast<std::size_t>(input.value());
      if (std::memcmp(m_buffers[index].data(), other.m_buffers[index].data(), m_buffers[index].bytes) != 0) {
        return false;
      }
    }
    return true;
  }

 private:
  [[nodiscard]] bool launch(const domain::KernelStep& step) {
    const auto kernel = m_module->bind(step);
    if (!kernel) {
      return false;
    }
    std::vector<Value> values;
    for (const domain::KernelArgument& argument : step.arguments) {
      values.push_back(std::visit([this](const auto& value) { return valueOf(value); }, argument));
    }
    std::vector<void*> pointers;
    for (Value& value : values) {
      pointers.push_back(&value);
    }
    return !(*kernel)->launch(pointers.data());
  }

  Value valueOf(domain::ValueId id) const {
    return {.address = m_buffers[static_cast<std::size_t>(id.value())].data()};
  }
  Value valueOf(const domain::TensorMap& map) const { return valueOf(map.buffer); }
  static Value valueOf(domain::Int32 value) { return {.int32 = value.value}; }
  static Value valueOf(std::int64_t value) { return {.int64 = value}; }
  static Value valueOf(float value) { return {.float32 = value}; }
  static Value valueOf(double value) { return {.float64 = value}; }

  device::Device& m_device;
  domain::LaunchPlan m_plan;
  std::vector<Buffer> m_buffers;
  std::unique_ptr<device::KernelModule> m_module;
};

// Relative L2 distance in double precision; infinite where only one of the two is a number.
double distance(const Buffer& a, const Buffer& b) {
  const auto* first = reinterpret_cast<const float*>(a.data());
  const auto* second = reinterpret_cast<const float*>(b.data());
  double squares = 0;
  double norm = 0;
  for (std::size_t i = 0; i < a.bytes / sizeof(float); ++i) {
    if (std::isfinite(first[i]) != std::isfinite(second[i])) {
      return std::numeric_limits<double>::infinity();
    }
    if (std::isfinite(first[i])) {
      const double difference = static_cast<double>(first[i]) - second[i];
      squares += difference * difference;
      norm += static_cast<double>(first[i]) * first[i];
    }
  }
  return norm > 0 ? std::sqrt(squares / norm) : std::sqrt(squares);
}

domain::Json answer(const domain::Json& request, device::Device& device, const Memory& memory) {
  const auto plan = domain::launchPlanFromJson(request.at("plan"));
  if (!plan) {
    return {{"failed", plan.error().message()}};
  }
  Runner original(device, memory, *plan);
  Runner mutant(device, memory, *plan);
  if (!original.load(request.at("original")) || !mutant.load(request.at("mutant"))) {
    return {{"failed", "cannot be loaded"}};
  }
  double largest = 0;
  for (int draw = 0; draw < request.at("draws").get<int>(); ++draw) {
    const std::uint64_t seed = request.at("seed").get<std::uint64_t>() + static_cast<std::uint64_t>(draw);
    original.fill(seed);
    if (!original.run() || !original.zonesIntact()) {
      return {{"failed", "the original does not work"}};
    }
    for (int repeat = 0; repeat < request.at("repeats").get<int>(); ++repeat) {
      mutant.fill(seed);
      if (!mutant.run()) {
        return {{"wrong", kStopped}};
      }
      if (!mutant.zonesIntact() || !mutant.inputsAre(original)) {
        return {{"wrong", "writes where it must not"}};
      }
      for (std::size_t i = 0; i < plan->outputs.size(); ++i) {
        largest = std::max(largest, distance(original.output(i), mutant.output(i)));
      }
    }
  }
  return {{"distance", std::isfinite(largest) ? largest : 1e300}};
}

int serve(domain::DeviceKind kind) {
  const auto device = device::openDevice(kind, 0, 2);
  if (!device) {
    std::cerr << device.error().message() << '\n';
    return 5;
  }
  const Memory memory(kind);
  for (std::string line; std::getline(std::cin, line);) {
    const auto request = domain::parseJson(line);
    const domain::Json said = request ? answer(*request, **device, memory) : domain::Json{{"failed", "no request"}};
    std::cout << said.dump() << std::endl;
    if (said.value("wrong", "") == kStopped) {
      return 0;  // a device that stopped stays so for this process
    }
  }
  return 0;
}

}  // namespace
}  // namespace swage::testing

int main(int argc, char** argv) {
  const auto kind = argc == 2 ? swage::domain::parseDeviceKind(argv[1]) : std::nullopt;
  return kind ? swage::testing::serve(*kind) : 2;
}
