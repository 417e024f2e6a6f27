// SPDX-License-Identifier: Apache-2.0
// What the device layer and the worker make of a driver that fails, with the fake one of tests/fake_cuda.
#include <dlfcn.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <ostream>

#include <gmock/gmock.h>

#include "core/device/cuda_errors.h"
#include "core/device/open_device.h"
#include "tests/support/result_matchers.h"

namespace swage::device {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// The device of this process's fake driver, which does as `script` says from now on.
Result<std::unique_ptr<Device>> open(const char* script) {
  ::setenv("SWAGE_FAKE_CUDA", script, 1);
  return openDevice(domain::DeviceKind::Cuda, 0, 1);
}

// `kernel` takes a pointer and a 64-bit number.
constexpr const char* kModule = "kernel 1024 256 8 8\nhungry 250000 256 8 8\n";

domain::KernelStep step(const std::string& entry, std::uint32_t threads = 128) {
  domain::KernelStep result;
  result.entry = entry;
  result.block.x = threads;
  result.arguments = {domain::ValueId(0), std::int64_t{7}};
  return result;
}

std::string refusalOf(const domain::KernelStep& wrong) {
  auto device = open("");
  if (!device) {
    return "no device: " + device.error().message();
  }
  auto module = (*device)->loadModule(kModule);
  if (!module) {
    return "no module: " + module.error().detail;
  }
  const auto kernel = (*module)->bind(wrong);
  return kernel ? "accepted" : kernel.error().detail;
}

TEST(CudaFaults, ADeviceThatWorksIsOpenedAndItsKernelsAreLimited) {
  const auto device = open("devices=1");
  ASSERT_THAT(device, testing::IsOk());
  EXPECT_EQ((*device)->info().name, "Fake GPU");
  EXPECT_EQ((*device)->info().architecture, "sm_90a");
  const auto limitOf = reinterpret_cast<std::size_t (*)(int)>(::dlsym(RTLD_DEFAULT, "swageFakeCudaLimit"));
  ASSERT_NE(limitOf, nullptr) << "this is not the fake driver";
  EXPECT_EQ(limitOf(1), std::size_t{64} << 10) << "what kernels may print";
  EXPECT_EQ(limitOf(2), std::size_t{8} << 20) << "what kernels may allocate";
}

TEST(CudaFaults, MemoryThatDoesNotHoldWhatIsWrittenIsNotUsed) {
  EXPECT_THAT(open("corrupt=1"), testing::IsError(ErrorKind::Environment, HasSubstr("does not hold what is written")));
}

TEST(CudaFaults, AProhibitedDeviceIsRefusedWithTheRemedy) {
  const auto device = open("mode=2");
  ASSERT_THAT(device, testing::IsError(ErrorKind::Environment, HasSubstr("compute mode is 'prohibited'")));
  EXPECT_THAT(device.error().hint(), HasSubstr("nvidia-smi -c DEFAULT"));
}

TEST(CudaFaults, ADeviceForOneProcessIsSupported) {
  EXPECT_THAT(open("mode=3"), testing::IsOk());
}

TEST(CudaFaults, ADeviceThatAnotherProcessHasForItselfIsRefusedWithTheRemedy) {
  const auto device = open("context=46");
  ASSERT_THAT(device, testing::IsError(ErrorKind::Environment, HasSubstr("cannot create its context")));
  EXPECT_THAT(device.error().hint(), HasSubstr("has the device for itself"));
}

TEST(CudaFaults, ADeviceSharedByMpsIsRefused) {
  EXPECT_THAT(open("mps=1"), testing::IsError(ErrorKind::Environment, HasSubstr("multi-process service")));
  EXPECT_THAT(checkDevice(domain::DeviceKind::Cuda, 0),
              testing::IsError(ErrorKind::Environment, HasSubstr("multi-process service")));
}

TEST(CudaFaults, ADeviceThatIsNotThereIsNamed) {
  ::setenv("SWAGE_FAKE_CUDA", "devices=2", 1);
  EXPECT_THAT(checkDevice(domain::DeviceKind::Cuda, 1), testing::IsOk());
  EXPECT_THAT(checkDevice(domain::DeviceKind::Cuda, 2),
              testing::IsError(ErrorKind::Environment, HasSubstr("CUDA device 2")));
}

TEST(CudaFaults, ADeviceLostAtAnyCallWhileItIsOpenedIsAnError) {
  for (int call = 1; call <= 30; ++call) {
    const auto device = open(("lost_at=" + std::to_string(call)).c_str());
    EXPECT_THAT(device, testing::IsError(ErrorKind::Environment, HasSubstr("999"))) << "lost at call " << call;
  }
}

TEST(CudaFaults, WantOfMemoryWhileOpeningNamesItself) {
  for (int allocation = 1; allocation <= 4; ++allocation) {
    EXPECT_THAT(open(("alloc_at=" + std::to_string(allocation)).c_str()),
                testing::IsError(ErrorKind::Environment, HasSubstr("CUDA_ERROR_OUT_OF_MEMORY")));
  }
}

TEST(CudaFaults, AnIllegalAddressShowsAtTheNextWaitAndPoisons) {
  auto device = open("launch=700");
  ASSERT_THAT(device, testing::IsOk());
  auto module = (*device)->loadModule(kModule);
  ASSERT_TRUE(module);
  auto kernel = (*module)->bind(step("kernel"));
  ASSERT_TRUE(kernel) << kernel.error().detail;
  std::array<void*, 2> arguments{};
  EXPECT_FALSE((*kernel)->launch(arguments.data()));
  const DeviceStatus failed = (*device)->synchronize();
  ASSERT_TRUE(failed);
  EXPECT_TRUE(failed->poisoned);
  EXPECT_FALSE(failed->outOfMemory);
  EXPECT_THAT(failed->detail, HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS (700)"));
  const DeviceStatus again = (*device)->synchronize();
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->poisoned) << "it sticks";
}

// What a function of the fake driver says.
std::string told(const char* function) {
  const auto get = reinterpret_cast<const char* (*)()>(::dlsym(RTLD_DEFAULT, function));
  return get != nullptr ? get() : "this is not the fake driver";
}

std::string launches() {
  return told("swageFakeCudaLaunches");
}

// The fake driver runs no kernel, so that nobody comes to hold a multiprocessor: the call is made nevertheless.
TEST(CudaFaults, AConfinedCallIsMadeOnceAndReportsWhatFails) {
  int calls = 0;
  const auto count = [&calls]() -> DeviceStatus {
    ++calls;
    return std::nullopt;
  };
  auto device = open("devices=1");
  ASSERT_THAT(device, testing::IsOk());
  EXPECT_FALSE((*device)->callConfined(count));
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(launches(), "swage_hold 131 1024 232448 beside\n") << "all multiprocessors but one, whole";
  const DeviceStatus failed =
      (*device)->callConfined([] { return DeviceStatus(DeviceFailure{"as the test wants it"}); });
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->detail, "as the test wants it");
}

TEST(CudaFaults, AnEmptyLaunchIsOneThreadOnTheTimedStream) {
  auto device = open("devices=1,mode=0");
  ASSERT_THAT(device, testing::IsOk());
  const Device::Call* launch = (*device)->emptyLaunch();
  ASSERT_NE(launch, nullptr);
  EXPECT_FALSE((*launch)());
  EXPECT_EQ(launches(), "swage_empty 1 1 0\n");
  device = open("load=222");
  ASSERT_THAT(device, testing::IsOk());
  EXPECT_EQ((*device)->emptyLaunch(), nullptr);
}

TEST(CudaFaults, EverythingIsIssuedToTheStreamInUse) {
  auto device = open("devices=1,stream=1");
  ASSERT_THAT(device, testing::IsOk());
  auto module = (*device)->loadModule(kModule);
  ASSERT_TRUE(module);
  auto kernel = (*module)->bind(step("kernel"));
  ASSERT_TRUE(kernel);
  const auto issued = [&] {
    const std::size_t before = told("swageFakeCudaIssued").size();
    EXPECT_TRUE((*device)->timeCold([&] { return (*kernel)->launch(nullptr); }));
    return told("swageFakeCudaIssued").substr(before);
  };
  int stream = 0;
  const std::string onDefault = issued();
  EXPECT_THAT(onDefault, AllOf(HasSubstr("event\nfill\n"), HasSubstr("event\nlaunch\nevent\n")));
  EXPECT_THAT(onDefault, Not(HasSubstr("beside")));
  (*device)->useStream(&stream);
  EXPECT_THAT(issued(), AllOf(HasSubstr("event beside\nlaunch beside\nevent beside\n"), Not(HasSubstr("event\n")),
                              Not(HasSubstr("launch\n")), Not(HasSubstr("fill\n"))));
  (*device)->useStream(nullptr);
  EXPECT_EQ(issued(), onDefault);
}

TEST(CudaFaults, ACapturedCallIsIssuedEachTimeThatItIsLaunched) {
  auto device = open("devices=1,stream=2");
  ASSERT_THAT(device, testing::IsOk());
  auto module = (*device)->loadModule(kModule);
  ASSERT_TRUE(module);
  auto kernel = (*module)->bind(step("kernel"));
  ASSERT_TRUE(kernel);
  const auto own = (*device)->captureStream();
  ASSERT_TRUE(own);
  EXPECT_EQ(*own, *(*device)->captureStream()) << "the same one each time";
  (*device)->useStream(*own);
  const std::size_t before = told("swageFakeCudaIssued").size();
  const auto issued = [&] { return told("swageFakeCudaIssued").substr(before); };
  auto captured = (*device)->capture([&]() -> DeviceStatus {
    const DeviceStatus failed = (*kernel)->launch(nullptr);
    return failed ? failed : (*kernel)->launch(nullptr);
  });
  ASSERT_TRUE(captured);
  EXPECT_EQ(issued(), "");
  (*device)->useStream(nullptr);
  EXPECT_FALSE((*captured)->launch());
  EXPECT_EQ(issued(), "graph\nlaunch beside\nlaunch beside\n") << "on the stream in use now";
  EXPECT_FALSE((*captured)->launch());
  EXPECT_THAT(issued(), ::testing::EndsWith("graph\nlaunch beside\nlaunch beside\n"));
}

TEST(CudaFaults, ACallThatCannotBeCapturedSaysWhy) {
  auto device = open("devices=1,capture=901");
  ASSERT_THAT(device, testing::IsOk());
  const auto broken = (*device)->capture([] { return DeviceStatus(); });
  ASSERT_FALSE(broken);
  EXPECT_THAT(broken.error().detail, HasSubstr("901"));
  EXPECT_FALSE(broken.error().poisoned);
  const auto failed = (*device)->capture([] { return DeviceStatus(DeviceFailure{"as the test wants it"}); });
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().detail, "as the test wants it");
}

TEST(CudaFaults, ACallIsMadeOnTheWholeDeviceWhereItCannotBeConfined) {
  int calls = 0;
  auto device = open("load=222");
  ASSERT_THAT(device, testing::IsOk());
  EXPECT_FALSE((*device)->callConfined([&calls]() -> DeviceStatus {
    ++calls;
    return std::nullopt;
  }));
  EXPECT_EQ(calls, 1);
}

class Incompatible : public ::testing::TestWithParam<int> {};

TEST_P(Incompatible, BinariesAreExplainedAndDoNotPoison) {
  auto device = open("");
  ASSERT_THAT(device, testing::IsOk());
  ::setenv("SWAGE_FAKE_CUDA", ("load=" + std::to_string(GetParam())).c_str(), 1);
  const auto module = (*device)->loadModule(kModule);
  ASSERT_FALSE(module);
  EXPECT_FALSE(module.error().poisoned);
  EXPECT_THAT(module.error().detail, HasSubstr("compiled for another architecture"));
}

INSTANTIATE_TEST_SUITE_P(CudaFaults, Incompatible, ::testing::Values(209, 222));

TEST(CudaFaults, ResourcesOverTheLimitAreGivenInNumbers) {
  EXPECT_EQ(refusalOf(step("kernel")), "accepted");
  EXPECT_EQ(refusalOf(step("kernel", 512)), "'kernel' runs with at most 256 threads in a block, not 512");
  EXPECT_EQ(refusalOf(step("hungry")), "'hungry' needs 250000 bytes of shared memory, a block can have 232448");
}

TEST(CudaFaults, EntriesThatAreMissingOrTakeOtherParametersAreRefusedBeforeTheLaunch) {
  EXPECT_THAT(refusalOf(step("absent")), AllOf(HasSubstr("'absent'"), HasSubstr("CUDA_ERROR_NOT_FOUND")));
  domain::KernelStep fewer = step("kernel");
  fewer.arguments.pop_back();
  EXPECT_EQ(refusalOf(fewer), "'kernel' takes more than the 1 parameters that the plan gives");
  domain::KernelStep more = step("kernel");
  more.arguments.emplace_back(1.0F);
  EXPECT_EQ(refusalOf(more), "'kernel' takes 2 parameters, the plan gives 3");
  domain::KernelStep other = step("kernel");
  other.arguments.back() = domain::Int32{7};
  EXPECT_EQ(refusalOf(other), "parameter 1 of 'kernel' has 8 bytes, the plan gives 4");
}

// A kernel that takes a tensor map of buffer 0 and the address of buffer 1.
domain::KernelStep mapStep() {
  domain::TensorMap map = domain::tensorMapOf(
      domain::ValueId(0), domain::contiguousTensor(domain::ScalarType::Float16, {96, 64}), {64, 32});
  map.offset = 8;
  map.sizes = {56, 96};
  map.swizzle = domain::MapSwizzle::Bytes128;
  domain::KernelStep result = step("mapped");
  result.arguments = {map, domain::ValueId(1)};
  return result;
}

template <class Function>
Function* fakeFunction(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_DEFAULT, name));
}

TEST(TensorMaps, AreEncodedOnceForEachAddressOfTheirBuffer) {
  auto device = open("devices=1,maps=0");
  ASSERT_THAT(device, testing::IsOk());
  auto module = (*device)->loadModule("mapped 0 256 128 8\n");
  ASSERT_TRUE(module);
  auto kernel = (*module)->bind(mapStep());
  ASSERT_TRUE(kernel) << kernel.error().detail;
  const auto mapAddress = fakeFunction<std::uintptr_t()>("swageFakeCudaMapAddress");
  std::uintptr_t out = 7;
  for (std::uintptr_t address : {4096, 8192, 4096, 8192}) {
    std::array<void*, 2> arguments{&address, &out};
    ASSERT_FALSE((*kernel)->launch(arguments.data()));
    EXPECT_EQ(mapAddress(), address + 16) << "the offset is part of the address";
    EXPECT_EQ(arguments[0], &address) << "the caller's arguments stay as they are";
  }
  const std::string line = "type 6 of 56/64/1 96/32/1 strides 128 swizzle 3 promotion 2 fill 0\n";
  EXPECT_EQ(fakeFunction<const char*()>("swageFakeCudaMaps")(), line + line);
}

TEST(TensorMaps, ThatTheDriverRefusesFailTheLaunch) {
  auto device = open("map=801");
  ASSERT_THAT(device, testing::IsOk());
  auto module = (*device)->loadModule("mapped 0 256 128 8\n");
  ASSERT_TRUE(module);
  auto kernel = (*module)->bind(mapStep());
  ASSERT_TRUE(kernel);
  std::uintptr_t address = 4096;
  std::array<void*, 2> arguments{&address, &address};
  const DeviceStatus failed = (*kernel)->launch(arguments.data());
  ASSERT_TRUE(failed);
  EXPECT_THAT(failed->detail, HasSubstr("encode the tensor map of buffer 0"));
  EXPECT_FALSE(failed->poisoned);
  EXPECT_STREQ(fakeFunction<const char*()>("swageFakeCudaLaunches")(), "");
}

TEST(TensorMaps, HaveTheSizeThatTheKernelDeclares) {
  domain::KernelStep wrong = step("kernel");
  wrong.arguments = {mapStep().arguments[0], std::int64_t{7}};
  EXPECT_EQ(refusalOf(wrong), "parameter 0 of 'kernel' has 8 bytes, the plan gives 128");
}

struct Answer {
  int exitCode = -1;
  std::string text;
};

// The real worker with the fake driver.
Answer check(const std::string& script) {
  ::setenv("SWAGE_FAKE_CUDA", script.c_str(), 1);
  ::setenv("LD_LIBRARY_PATH", SWAGE_FAKE_CUDA_FOLDER, 1);
  FILE* pipe = ::popen(SWAGE_TEST_WORKER " --device cuda:0 --check 2>&1", "r");
  ::unsetenv("LD_LIBRARY_PATH");
  Answer answer;
  std::array<char, 4096> buffer{};
  for (std::size_t count = 0; (count = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    answer.text.append(buffer.data(), count);
  }
  answer.exitCode = WEXITSTATUS(::pclose(pipe));
  return answer;
}

TEST(WorkerCheck, SaysWhatTheDeviceIs) {
  const Answer answer = check("");
  EXPECT_EQ(answer.exitCode, 0) << answer.text;
  EXPECT_THAT(answer.text, HasSubstr("Fake GPU, sm_90a"));
}

struct DriverFault {
  int code;
  const char* advice;
  friend void PrintTo(const DriverFault& self, std::ostream* out) { *out << self.code; }
};
class BrokenDriver : public ::testing::TestWithParam<DriverFault> {};

TEST_P(BrokenDriver, IsTheEnvironmentsFaultAndHasAHint) {
  const Answer answer = check("init=" + std::to_string(GetParam().code));
  EXPECT_EQ(answer.exitCode, 5) << answer.text;
  EXPECT_THAT(answer.text, HasSubstr("cannot start the NVIDIA driver"));
  EXPECT_THAT(answer.text, HasSubstr(GetParam().advice));
  EXPECT_THAT(answer.text, HasSubstr("--target cpu"));
}

INSTANTIATE_TEST_SUITE_P(WorkerCheck, BrokenDriver,
                         ::testing::Values(DriverFault{100, "sees no such GPU"}, DriverFault{803, "reboot"},
                                           DriverFault{35, "older than this program needs"},
                                           DriverFault{999, "fell off the bus"}));

}  // namespace
}  // namespace swage::device
