// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace swage::cell {

// What lies in the pages of variables of all loaded objects, before the first and behind the last of them: memory that
// can be written and belongs to nobody, where a kernel could keep something from call to call.
class PageSlack {
 public:
  // As it is now. Asks the system for nothing.
  void remember();
  [[nodiscard]] bool isUnchanged() const;

 private:
  struct Part {
    const char* first = nullptr;
    std::vector<char> bytes;
  };
  std::vector<Part> m_parts;
};

}  // namespace swage::cell
