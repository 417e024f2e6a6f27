// SPDX-License-Identifier: Apache-2.0
// Preloaded into a test: what was in a block of memory that is freed stays there, because larger blocks are never used
// again.
#include <dlfcn.h>
#include <malloc.h>

#include <cstddef>

namespace {

constexpr std::size_t kSmallest = std::size_t{1} << 16;

using Free = void (*)(void*);

}  // namespace

extern "C" {

// Whether this library is there.
__attribute__((visibility("default"))) extern const bool kSwageKeepsWhatIsFreed;
const bool kSwageKeepsWhatIsFreed = true;

__attribute__((visibility("default"))) void free(void* block) noexcept {
  static const auto real = reinterpret_cast<Free>(::dlsym(RTLD_NEXT, "free"));
  if (block != nullptr && ::malloc_usable_size(block) < kSmallest) {
    real(block);
  }
}
}
