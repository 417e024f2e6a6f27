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

std::string_view adviceOn(int code) {
  switch (code) {
    case 2: return "Another program holds the device's memory: `nvidia-smi` names it. End it, or take another device.";
    case 46: return "Another program has the device for itself (compute mode): end it, or `nvidia-smi -c DEFAULT`.";
    case 100:
    case 101:
      return "The driver sees no such GPU: compare with `nvidia-smi -L` and CUDA_VISIBLE_DEVICES, or work with "
             "--target "
             "cpu.";
    case 35: return "The driver is older than this program needs: update it, or work with --target cpu.";
    case 802: return "The machine's GPU fabric is not ready: start nvidia-fabricmanager, then try again.";
    case 803:
    case 804:
      return "The driver's library and its kernel module are of different versions, as after an update: reboot, or "
             "reload the nvidia modules. Until then work with --target cpu.";
    case 999:
      return "The driver answers nothing more precise: see whether `nvidia-smi` works and /dev/nvidia* can be opened; "
             "a GPU that fell off the bus needs a reboot. Until then work with --target cpu.";
    default: return "Check the GPU with nvidia-smi, update the NVIDIA driver, or work with --target cpu.";
  }
}

bool isSticky(int code) {
  return std::find(kSticky.begin(), kSticky.end(), code) != kSticky.end();
}

}  // namespace swage::device
