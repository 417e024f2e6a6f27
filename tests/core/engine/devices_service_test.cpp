// SPDX-License-Identifier: Apache-2.0
#include "core/engine/devices_service_impl.h"

#include <gmock/gmock.h>

#include "core/domain/json.h"
#include "tests/support/result_matchers.h"

namespace swage::engine {
namespace {

using services::DeviceStatus;
using swage::testing::IsError;
using swage::testing::IsOk;
using ::testing::HasSubstr;

std::string listOf(const domain::Json& troubleOfGpu) {
  domain::DeviceInfo cpu;
  cpu.name = "A CPU";
  domain::DeviceInfo gpu;
  gpu.kind = domain::DeviceKind::Cuda;
  gpu.host = "test-host-without-locks";
  gpu.name = "A GPU";
  gpu.uuid = "GPU-01234567-89ab-cdef-0123-456789abcdef";
  domain::Json json = {{"devices", domain::Json::array()}, {"cuda_trouble", nullptr}};
  json["devices"].push_back({{"device", domain::toJson(cpu)}, {"trouble", nullptr}});
  json["devices"].push_back({{"device", domain::toJson(gpu)}, {"trouble", troubleOfGpu}});
  return json.dump();
}

domain::Json probe(const char* cuda, const domain::Json& devices) {
  return {{"torch", {{"version", "2.11.0"}, {"cuda_version", cuda}, {"devices", devices}}}};
}

TEST(DeviceReport, HasWhatTheWorkerListed) {
  const auto report = reportFromList(listOf({{"message", "its compute mode is 'prohibited'"}, {"hint", "allow it"}}));
  ASSERT_THAT(report, IsOk());
  ASSERT_EQ(report->devices.size(), 2U);
  EXPECT_EQ(report->devices[0].state, DeviceStatus::State::Usable);
  EXPECT_EQ(report->devices[1].state, DeviceStatus::State::Unusable);
  EXPECT_EQ(report->devices[1].detail, "its compute mode is 'prohibited'");
  EXPECT_EQ(report->devices[1].hint, "allow it");
}

TEST(DeviceNumbers, AreThoseOfTheGpusWithTheseUuids) {
  const auto report = reportFromList(listOf(nullptr));
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(numbersOf({"3", "GPU-01234567-89ab-cdef-0123-456789abcdef"}, *report).value(), (std::vector<int>{3, 0}));
  EXPECT_EQ(numbersOf({"GPU-0123"}, *report).value(), std::vector<int>{0}) << "the beginning is enough";
  EXPECT_THAT(numbersOf({"GPU-ff"}, *report), IsError(ErrorKind::NotFound, HasSubstr("GPU-ff")));
  services::DeviceReport twins = *report;
  twins.devices.push_back(report->devices.back());
  EXPECT_THAT(numbersOf({"GPU-0123"}, twins), IsError(ErrorKind::NotFound, HasSubstr("several")));
  EXPECT_EQ(findDevices({}, {"1", "0"}).value(), (std::vector<int>{1, 0})) << "nothing has to be asked";
}

TEST(DeviceReport, OfAWorkerThatSaysSomethingElseIsAnError) {
  for (const char* text : {"", "{", "[]", "{\"devices\": [{\"device\": 3}]}"}) {
    EXPECT_FALSE(reportFromList(text)) << text;
  }
  EXPECT_THAT(reportFromList("x"), IsError(ErrorKind::Environment, HasSubstr("swage-worker")));
}

TEST(DeviceReport, AGpuThatPyTorchSeesIsUsable) {
  auto report = reportFromList(listOf(nullptr));
  ASSERT_THAT(report, IsOk());
  addTorch(*report, probe("13.0", {{{"uuid", "01234567-89ab-cdef-0123-456789abcdef"}}}));
  EXPECT_EQ(report->devices[1].state, DeviceStatus::State::Usable);
  EXPECT_TRUE(report->devices[1].isSeenByTorch);
  EXPECT_EQ(report->torchVersion, "2.11.0");
}

TEST(DeviceReport, AGpuThatPyTorchDoesNotSeeIsNotAndTheReasonIsTold) {
  auto report = reportFromList(listOf(nullptr));
  ASSERT_THAT(report, IsOk());
  addTorch(*report, probe("13.0", domain::Json::array()));
  EXPECT_EQ(report->devices[1].state, DeviceStatus::State::Unusable);
  EXPECT_THAT(report->devices[1].detail, HasSubstr("does not see it"));
  report = reportFromList(listOf(nullptr));
  addTorch(*report,
           Result<nlohmann::json>(domain::Json{{"torch", {{"version", "2.11.0+cpu"}, {"cuda_version", nullptr}}}}));
  EXPECT_THAT(report->devices[1].detail, HasSubstr("without CUDA"));
}

TEST(DeviceReport, SaysWhyThereIsNoPyTorch) {
  auto report = reportFromList(listOf(nullptr));
  ASSERT_THAT(report, IsOk());
  addTorch(*report, Error(ErrorKind::Environment, "PyTorch cannot be imported"));
  EXPECT_EQ(report->torchDetail, "PyTorch cannot be imported");
}

}  // namespace
}  // namespace swage::engine
