// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

#include <cstddef>
#include <cstdint>

namespace swage::device {

inline constexpr std::uintptr_t kStackPageBytes = 4096;

// Of the thread that asks: the lowest page of its stack. 0: not known. Only in a header, because swage-cell links
// nothing of Swage.
[[nodiscard]] inline std::uintptr_t lowestStackAddress() {
  pthread_attr_t attributes;
  void* low = nullptr;
  std::size_t size = 0;
  if (::pthread_getattr_np(::pthread_self(), &attributes) == 0) {
    ::pthread_attr_getstack(&attributes, &low, &size);
    ::pthread_attr_destroy(&attributes);
  }
  return (reinterpret_cast<std::uintptr_t>(low) + kStackPageBytes - 1) / kStackPageBytes * kStackPageBytes;
}

}  // namespace swage::device
