// SPDX-License-Identifier: Apache-2.0
#include "core/device/shared_object.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
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
