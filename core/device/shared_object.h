// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/device/failure.h"

namespace swage::device {

// A shared object loaded from its bytes. Its symbols stay private to it. Closed at destruction.
class SharedObject {
 public:
  [[nodiscard]] static DeviceResult<SharedObject> load(const std::string& bytes);

  // Whether the loader calls an object of this class so: to tell a kernel's code from that of libraries.
  [[nodiscard]] static bool isItsPath(std::string_view path);

  // nullptr when there is no such symbol.
  [[nodiscard]] void* find(const std::string& symbol) const;

 private:
  struct Closer {
    void operator()(void* handle) const;
  };
  explicit SharedObject(void* handle) : m_handle(handle) {}

  std::unique_ptr<void, Closer> m_handle;
};

}  // namespace swage::device
