// SPDX-License-Identifier: Apache-2.0
#include "core/verify/torch_failure.h"

#include <c10/util/Exception.h>

#include <exception>
#include <new>
#include <string_view>

#include "core/device/cuda_errors.h"

namespace swage::verify {
namespace {

constexpr std::size_t kMaxMessage = 2000;

std::string shortened(std::string_view text) {
  // CUDA errors carry advice about environment variables that is of no use to who reads an evaluation.
  for (const std::string_view advice : {"\nCUDA kernel errors might be", "\nException raised from"}) {
    text = text.substr(0, text.find(advice));
  }
  return std::string(text.substr(0, kMaxMessage));
}

// The CPU allocator has no exception type of its own.
bool isAllocatorMessage(std::string_view text) {
  return text.find("DefaultCPUAllocator") != std::string_view::npos;
}

}  // namespace

device::DeviceFailure asDeviceFailure(const TorchFailure& failure) {
  return {failure.message, failure.poisoned, failure.outOfMemory};
}

std::optional<TorchFailure> attempt(const std::function<void()>& action) {
  try {
    action();
    return std::nullopt;
  } catch (const c10::OutOfMemoryError& error) {
    return TorchFailure{shortened(error.what_without_backtrace()), true, false};
  } catch (const c10::AcceleratorError& error) {
    return TorchFailure{shortened(error.what_without_backtrace()), false, device::isSticky(error.get_error_code())};
  } catch (const c10::Error& error) {
    const std::string_view text = error.what_without_backtrace();
    return TorchFailure{shortened(text), isAllocatorMessage(text), false};
  } catch (const std::bad_alloc&) {
    return TorchFailure{"out of memory", true, false};
  } catch (const std::exception& error) {
    return TorchFailure{shortened(error.what()), false, false};
  } catch (...) {
    return TorchFailure{"an unknown exception", false, false};
  }
}

}  // namespace swage::verify
