// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace swage::device {

// How a device is at one moment. Zero: that number is not known.
struct ConditionSample {
  bool known = false;  // false: nobody can be asked, and everything else says nothing
  int smClockMhz = 0;
  int memoryClockMhz = 0;
  int temperatureCelsius = 0;
  double powerWatts = 0.0;
  std::vector<std::string> reasons;  // what holds it back: "power cap", "another process", ...
  bool throttled = false;            // one of the reasons spoils a measurement
};

}  // namespace swage::device
