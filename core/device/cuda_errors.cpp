// SPDX-License-Identifier: Apache-2.0
#include "core/device/cuda_errors.h"

#include <algorithm>
#include <array>

namespace swage::device {
namespace {

constexpr std::array kSticky = {
    214,  // ECC_UNCORRECTABLE
    226,  // CONTAINED
    700,  // ILLEGAL_ADDRESS
    702,  // LAUNCH_TIMEOUT
    710,  // ASSERT
    714,  // HARDWARE_STACK_ERROR
    715,  // ILLEGAL_INSTRUCTION
    716,  // MISALIGNED_ADDRESS
    717,  // INVALID_ADDRESS_SPACE
    718,  // INVALID_PC
    719,  // LAUNCH_FAILED
    721,  // TENSOR_MEMORY_LEAK
    810,  // MPS_CLIENT_TERMINATED
    911,  // EXTERNAL_DEVICE
};

}  // namespace

bool isSticky(int code) {
  return std::find(kSticky.begin(), kSticky.end(), code) != kSticky.end();
}

}  // namespace swage::device
