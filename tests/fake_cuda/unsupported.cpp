// SPDX-License-Identifier: Apache-2.0
// Every function of the driver that Swage looks for exists here: what fake_cuda.cpp does not define says that it is not
// supported, so that a test does not fail because another part of Swage calls one more function.
#include "core/device/cuda_driver.h"

#define SWAGE_FAKE_TEXT2(name) #name
#define SWAGE_FAKE_TEXT(name) SWAGE_FAKE_TEXT2(name)

extern "C" int swageFakeUnsupported() {
  return CUDA_ERROR_NOT_SUPPORTED;
}

#define SWAGE_FAKE_WEAK(function)                                        \
  __asm__(".weak " SWAGE_FAKE_TEXT(function) "\n.type " SWAGE_FAKE_TEXT( \
      function) ", @function\n.set " SWAGE_FAKE_TEXT(function) ", swageFakeUnsupported\n");
SWAGE_CUDA_FUNCTIONS(SWAGE_FAKE_WEAK)
