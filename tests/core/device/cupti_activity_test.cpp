// SPDX-License-Identifier: Apache-2.0
#include "core/device/cupti_activity.h"

#include <gmock/gmock.h>

#include <dlfcn.h>

#include <cstdlib>

#include "tests/support/result_matchers.h"

namespace swage::device {
namespace {

using ::testing::HasSubstr;
using testing::IsError;
using testing::IsOk;

TEST(BusyNanoseconds, CountsWhatOverlapsOnce) {
  EXPECT_DOUBLE_EQ(busyNanoseconds({}), 0.0);
  EXPECT_DOUBLE_EQ(busyNanoseconds({{100, 200}}), 100.0);
  EXPECT_DOUBLE_EQ(busyNanoseconds({{150, 250}, {100, 200}}), 150.0);
  EXPECT_DOUBLE_EQ(busyNanoseconds({{100, 400}, {150, 200}, {300, 350}}), 300.0) << "one runs beside all others";
  EXPECT_DOUBLE_EQ(busyNanoseconds({{100, 200}, {500, 700}}), 300.0) << "gaps are not busy";
}

class Cupti : public ::testing::Test {
 protected:
  void TearDown() override { ::unsetenv("SWAGE_FAKE_CUPTI"); }
  static Result<double> record(const char* script) {
    ::setenv("SWAGE_FAKE_CUPTI", script, 1);
    SWAGE_TRY_ASSIGN(const auto activity, CuptiActivity::open(SWAGE_FAKE_CUPTI_LIBRARY));
    SWAGE_TRY(activity->start());
    SWAGE_TRY_ASSIGN(const auto spans, activity->stop());
    return busyNanoseconds(spans);
  }
  static int enabledKinds() {
    void* library = ::dlopen(SWAGE_FAKE_CUPTI_LIBRARY, RTLD_NOW);
    return reinterpret_cast<int (*)()>(::dlsym(library, "swageFakeCuptiEnabled"))();
  }
};

TEST_F(Cupti, AddsUpKernelsCopiesAndFillsOnAllStreams) {
  const auto busy = record("kernel,1000,1400;memset,1400,1500;memcpy,2000,2100;kernel,2050,2300;other,0,99999");
  ASSERT_THAT(busy, IsOk());
  EXPECT_DOUBLE_EQ(*busy, 500.0 + 300.0);
  EXPECT_EQ(enabledKinds(), 0) << "nothing is recorded afterwards";
}

TEST_F(Cupti, DoesNotTrustRecordsThatAreIncomplete) {
  EXPECT_THAT(record("kernel,1000,1400;lost"), IsError(ErrorKind::Environment, HasSubstr("lost 1 records")));
  EXPECT_EQ(enabledKinds(), 0);
}

TEST_F(Cupti, SaysWhyADeviceCannotBeRecorded) {
  EXPECT_THAT(record("refuse"), IsError(ErrorKind::Environment, HasSubstr("INSUFFICIENT_PRIVILEGES")));
}

TEST_F(Cupti, ThatIsMissingIsTheEnvironmentsFault) {
  EXPECT_THAT(CuptiActivity::open("/nonexistent/libcupti.so"),
              IsError(ErrorKind::Environment, HasSubstr("cannot load CUPTI")));
}

}  // namespace
}  // namespace swage::device
