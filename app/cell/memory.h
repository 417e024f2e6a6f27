// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/device/cell_protocol.h"

namespace swage::cell {

// The buffers of a cell, in the memory that it shares with its parent and in memory of its own. Every one lies between
// pages that nobody may touch. Not thread-safe; copies with the OpenMP team.
class CellMemory {
 public:
  // Maps what is shared. Empty: done; else why not.
  [[nodiscard]] std::string map(const device::CellControl& control);
  // Of all that is mapped at most, for a limit.
  [[nodiscard]] std::uint64_t addressBytes() const;

  // Null: there is no such buffer, or no memory for it.
  [[nodiscard]] char* address(std::uint64_t buffer, std::uint32_t place);
  [[nodiscard]] bool zero(std::uint64_t buffer, std::uint32_t place);
  // Inputs cannot be written afterwards.
  [[nodiscard]] bool copyIn(std::uint64_t buffer, std::uint32_t place);
  [[nodiscard]] bool copyOut(std::uint64_t buffer, std::uint32_t place);
  // Own memory that kernels write: large buffers get new pages, which are zero, the others NaN. That is how an
  // allocator would hand them out to a program, and what it costs.
  void clear();
  // Whether nothing was written just beside own memory.
  [[nodiscard]] bool isIntact() const;

  // The buffer that an address belongs to, or beside which it lies.
  struct Place {
    std::uint32_t buffer = 0;
    bool isInside = false;
    bool isReadOnly = false;
  };
  // Called by a handler of signals: takes no lock and no memory.
  [[nodiscard]] std::optional<Place> find(std::uint64_t address) const;

 private:
  struct Pages {
    char* reserved = nullptr;  // with the guard pages
    std::uint64_t span = 0;
    char* first = nullptr;  // of the pages that can be read
    char* data = nullptr;
    std::uint64_t bytes = 0;  // of those pages
  };
  struct Buffer {
    std::uint64_t bytes = 0;
    bool isReadOnly = false;
    Pages shared;
    std::array<Pages, device::kCellPlaces> own{};
  };
  [[nodiscard]] Pages* own(std::uint64_t buffer, std::uint32_t place);

  std::vector<Buffer> m_buffers;
};

}  // namespace swage::cell
