// SPDX-License-Identifier: Apache-2.0
#include "core/device/shared_object.h"

#include <gmock/gmock.h>
#include <immintrin.h>
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/device/open_device.h"
#include "tests/core/verify/kernel_compiler.h"
#include "tests/support/result_matchers.h"

namespace swage::device {
namespace {

using ::testing::HasSubstr;

int callInteger(const SharedObject& object, const char* name) {
  return reinterpret_cast<int (*)()>(object.find(name))();
}

TEST(SharedObject, GivesTheSymbolsOfItsBytes) {
  const auto object = SharedObject::load(testing::compileSharedObject("extern \"C\" int one() { return 1; }"));
  ASSERT_TRUE(object.has_value()) << object.error().detail;
  EXPECT_EQ(callInteger(*object, "one"), 1);
  EXPECT_EQ(object->find("two"), nullptr);
}

TEST(SharedObject, IsNotConfusedWithAnEarlierOneThatCannotBeUnloaded) {
  // A static of an inline function has a unique symbol, which makes the loader keep the object for ever.
  const auto source = [](int value) {
    return "template <int N> int& kept() { static int number = N; return number; }\n"
           "extern \"C\" int answer() { return kept<" +
           std::to_string(value) + ">(); }";
  };
  for (int value = 1; value <= 3; ++value) {
    const auto object = SharedObject::load(testing::compileSharedObject(source(value)));
    ASSERT_TRUE(object.has_value()) << object.error().detail;
    EXPECT_EQ(callInteger(*object, "answer"), value);
  }
}

TEST(SharedObject, RefusesBytesThatAreNone) {
  const auto object = SharedObject::load("not an ELF file");
  ASSERT_FALSE(object.has_value());
  EXPECT_THAT(object.error().detail, HasSubstr("cannot be loaded"));
  EXPECT_FALSE(object.error().poisoned);
}

TEST(CpuDevice, KnowsWhatItIs) {
  const auto device = openDevice(domain::DeviceKind::Cpu, 0, 2);
  ASSERT_THAT(device, testing::IsOk());
  const domain::DeviceInfo& info = (*device)->info();
  EXPECT_EQ(info.kind, domain::DeviceKind::Cpu);
  EXPECT_EQ(info.threads, 2);
  EXPECT_FALSE(info.name.empty());
  EXPECT_FALSE(info.uuid.empty());
  EXPECT_GT(info.copyBytesPerSecond, 1e8);
}

TEST(CpuDevice, TimesNothingButTheCall) {
  const auto device = openDevice(domain::DeviceKind::Cpu, 0, 1);
  ASSERT_THAT(device, testing::IsOk());
  const auto time = (*device)->timeCold([]() -> DeviceStatus { return std::nullopt; });
  ASSERT_TRUE(time.has_value());
  EXPECT_LT(time->ns, 1e6);  // flushing the caches alone takes longer
}

TEST(CpuDevice, DoesWhatComesBeforeACallOutsideOfItsTime) {
  const auto device = openDevice(domain::DeviceKind::Cpu, 0, 1);
  ASSERT_THAT(device, testing::IsOk());
  std::string order;
  const auto sleep = [&order]() -> DeviceStatus {
    order += 'b';
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return std::nullopt;
  };
  const auto time = (*device)->timeColdAfter(sleep, [&order]() -> DeviceStatus {
    order += 'c';
    return std::nullopt;
  });
  ASSERT_TRUE(time.has_value());
  EXPECT_EQ(order, "bc");
  EXPECT_LT(time->ns, 20e6);
  const auto failed = (*device)->timeColdAfter([]() -> DeviceStatus { return DeviceFailure{"not ready"}; },
                                               [&order]() -> DeviceStatus {
                                                 order += 'c';
                                                 return std::nullopt;
                                               });
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error().detail, "not ready");
  EXPECT_EQ(order, "bc") << "the call is not made";
}

// With kernels in this process.
class LocalKernels : public ::testing::Test {
 protected:
  void SetUp() override {
    ::setenv("SWAGE_CELL", "off", 1);
    auto device = openDevice(domain::DeviceKind::Cpu, 0, 2);
    ::unsetenv("SWAGE_CELL");
    ASSERT_THAT(device, testing::IsOk());
    m_device = std::move(*device);
  }
  std::unique_ptr<Device> m_device;
};

TEST_F(LocalKernels, WorkOnTheMemoryThatTheyAreGiven) {
  const auto module = m_device->loadModule(
      testing::compileSharedObject("extern \"C\" void kernel(void** a) { **static_cast<float**>(a[0]) = 7; }"), {});
  ASSERT_TRUE(module.has_value()) << module.error().detail;
  EXPECT_EQ((*module)->memory(), nullptr);
  EXPECT_EQ(m_device->openness(), "a process of their own");
  domain::KernelStep step;
  step.entry = "kernel";
  step.arguments = {domain::ValueId(0)};
  const auto kernel = (*module)->bind(step);
  ASSERT_TRUE(kernel.has_value()) << kernel.error().detail;
  float value = 0.0F;
  float* address = &value;
  void* arguments[] = {&address};
  EXPECT_FALSE((*kernel)->launch(arguments));
  EXPECT_EQ(value, 7.0F);
  step.entry = "other";
  EXPECT_FALSE((*module)->bind(step).has_value());
}

TEST_F(LocalKernels, LeaveNoOtherArithmetic) {
  constexpr unsigned kModes = 0xFFC0;  // without the flags of what has happened
  _mm_setcsr(_mm_getcsr() | 0xE040U);  // towards zero, denormals are zero
  omp_set_num_threads(1);
  m_device->scrub();
  EXPECT_EQ(_mm_getcsr() & kModes, 0x1F80U);
  EXPECT_EQ(omp_get_max_threads(), 2);
}

// Two megabytes below its frame, where a kernel can keep answers without a variable.
[[gnu::noinline]] bool leavesAWordDeepInTheStack(std::uint64_t word) {
  auto* const frame = static_cast<char*>(__builtin_frame_address(0));
  auto* const deep = reinterpret_cast<volatile std::uint64_t*>(frame - (std::ptrdiff_t{2} << 20));
  const bool wasThere = *deep == word;
  *deep = word;
  return wasThere;
}

TEST_F(LocalKernels, LeaveNothingDeepInTheStacks) {
  const auto found = [] {
    int threads = 0;
#pragma omp parallel num_threads(2) reduction(+ : threads)
    threads += leavesAWordDeepInTheStack(0x5EC2E7) ? 1 : 0;
    return threads;
  };
  found();
  EXPECT_EQ(found(), 2) << "it stays where nobody scrubs";
  m_device->scrub();
  EXPECT_EQ(found(), 0);
}

TEST(CpuDevice, FillsEveryByteAndNoOther) {
  const auto device = openDevice(domain::DeviceKind::Cpu, 0, 2);
  ASSERT_THAT(device, testing::IsOk());
  const std::size_t size = 3 * (std::size_t{1} << 20U) + 5;
  std::vector<unsigned char> bytes(size + 2, 1);
  EXPECT_FALSE((*device)->fill(bytes.data() + 1, 0xA5, size));
  EXPECT_EQ(std::count(bytes.begin(), bytes.end(), 0xA5), static_cast<std::ptrdiff_t>(size));
  EXPECT_EQ(bytes.front() + bytes.back(), 2);
  EXPECT_FALSE((*device)->fill(nullptr, 0, 0));
}

TEST(CpuDevice, PassesOnWhyACallFailed) {
  const auto device = openDevice(domain::DeviceKind::Cpu, 0, 1);
  ASSERT_THAT(device, testing::IsOk());
  const auto ns = (*device)->timeCold([]() -> DeviceStatus { return DeviceFailure{"broken"}; });
  ASSERT_FALSE(ns.has_value());
  EXPECT_EQ(ns.error().detail, "broken");
}

}  // namespace
}  // namespace swage::device
