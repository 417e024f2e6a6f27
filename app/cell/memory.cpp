// SPDX-License-Identifier: Apache-2.0
#include "app/cell/memory.h"

#include <omp.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>

namespace swage::cell {
namespace {

constexpr std::uint64_t kPageBytes = 4096;
constexpr std::uint64_t kGuardBytes = std::uint64_t{64} << 10U;
constexpr std::uint64_t kFreshFrom = std::uint64_t{32} << 20U;  // where the worker's allocator asks the system
constexpr std::uint64_t kLine = 64;
constexpr std::uint64_t kAlone = std::uint64_t{128} << 10U;  // up to here one thread does it, as in PyTorch
constexpr std::uint64_t kLikelyPlaces = 8;
constexpr char kCanary = '\xA5';

std::uint64_t roundUp(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

// Calls `work` with parts of so many bytes, one for each thread, as PyTorch divides what it copies and what it
// computes: where memory is not the same to all processors, pages are near the thread that wrote to them first.
template <class Work>
void inParts(std::uint64_t bytes, const Work& work) {
#pragma omp parallel if (bytes > kAlone)
  {
    const auto threads = static_cast<std::uint64_t>(omp_get_num_threads());
    const std::uint64_t part = roundUp((bytes + threads - 1) / threads, kLine);
    const std::uint64_t begin = std::min(bytes, part * static_cast<std::uint64_t>(omp_get_thread_num()));
    work(begin, std::min(part, bytes - begin));
  }
}

void copy(char* target, const char* source, std::uint64_t bytes) {
  inParts(bytes, [&](std::uint64_t begin, std::uint64_t size) { std::memcpy(target + begin, source + begin, size); });
}

void fill(char* target, int value, std::uint64_t bytes) {
  inParts(bytes, [&](std::uint64_t begin, std::uint64_t size) { std::memset(target + begin, value, size); });
}

// Addresses without memory.
char* reserve(std::uint64_t bytes) {
  void* first = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return first == MAP_FAILED ? nullptr : static_cast<char*>(first);
}

}  // namespace

std::string CellMemory::map(const device::CellControl& control) {
  m_buffers.resize(std::min<std::size_t>(control.buffers, device::kCellBuffers));
  for (std::size_t i = 0; i < m_buffers.size(); ++i) {
    const device::CellBuffer& wanted = control.buffer[i];
    Buffer& buffer = m_buffers[i];
    buffer.bytes = wanted.bytes;
    buffer.isReadOnly = wanted.isReadOnly != 0;
    buffer.shared.span = wanted.pageBytes + 2 * kGuardBytes;
    buffer.shared.reserved = reserve(buffer.shared.span);
    if (buffer.shared.reserved == nullptr) {
      return "no room for the buffers";
    }
    char* first = buffer.shared.reserved + kGuardBytes;
    buffer.shared.data = first + wanted.start;
    if (wanted.pageBytes > 0 &&
        ::mmap(first, wanted.pageBytes, buffer.isReadOnly ? PROT_READ : PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
               buffer.isReadOnly ? device::kCellInputsFd : device::kCellOutputsFd,
               static_cast<off_t>(wanted.pageOffset)) == MAP_FAILED) {
      return "a buffer cannot be mapped";
    }
  }
  return {};
}

std::uint64_t CellMemory::addressBytes() const {
  std::uint64_t sum = 0;
  for (const Buffer& buffer : m_buffers) {
    sum += buffer.shared.span + kLikelyPlaces * (buffer.shared.span + kPageBytes);
  }
  return sum;
}

// Places of what kernels write are one: only inputs take turns.
CellMemory::Pages* CellMemory::own(std::uint64_t index, std::uint32_t place) {
  if (index >= m_buffers.size() || place == device::kCellShared || place >= device::kCellPlaces) {
    return nullptr;
  }
  Buffer& buffer = m_buffers[index];
  Pages& pages = buffer.own.at(buffer.isReadOnly ? place : 1);
  if (pages.data != nullptr) {
    return &pages;
  }
  // Not all at the beginning of a page: such addresses get into each other's way in caches.
  const std::uint64_t offset = kLine * (1 + (9 * index + 5 * place) % 32);
  const std::uint64_t bytes = roundUp(offset + buffer.bytes + kLine, kPageBytes);
  pages.span = bytes + 2 * kGuardBytes;
  pages.reserved = reserve(pages.span);
  if (pages.reserved == nullptr) {
    return nullptr;
  }
  // Large pages only where the system gives them to everybody: asked for, they make a kernel that waits for memory a
  // third faster than it is on PyTorch's tensors.
  char* first = pages.reserved + kGuardBytes;
  if (::mprotect(first, bytes, PROT_READ | PROT_WRITE) != 0) {
    return nullptr;
  }
  pages.first = first;
  pages.bytes = bytes;
  pages.data = first + offset;
  std::memset(pages.data - kLine, kCanary, kLine);
  std::memset(pages.data + buffer.bytes, kCanary, kLine);
  return &pages;
}

char* CellMemory::address(std::uint64_t index, std::uint32_t place) {
  if (index >= m_buffers.size()) {
    return nullptr;
  }
  if (place == device::kCellShared) {
    return m_buffers[index].shared.data;
  }
  const Pages* pages = own(index, place);
  return pages != nullptr ? pages->data : nullptr;
}

bool CellMemory::zero(std::uint64_t index, std::uint32_t place) {
  char* data = address(index, place);
  if (data == nullptr || m_buffers[index].isReadOnly) {
    return false;
  }
  fill(data, 0, m_buffers[index].bytes);
  return true;
}

bool CellMemory::copyIn(std::uint64_t index, std::uint32_t place) {
  const Pages* pages = own(index, place);
  if (pages == nullptr) {
    return false;
  }
  const Buffer& buffer = m_buffers[index];
  if (buffer.isReadOnly && ::mprotect(pages->first, pages->bytes, PROT_READ | PROT_WRITE) != 0) {
    return false;
  }
  copy(pages->data, buffer.shared.data, buffer.bytes);
  return !buffer.isReadOnly || ::mprotect(pages->first, pages->bytes, PROT_READ) == 0;
}

bool CellMemory::isIntact() const {
  const auto isCanary = [](char byte) { return byte == kCanary; };
  return std::all_of(m_buffers.begin(), m_buffers.end(), [&](const Buffer& buffer) {
    return std::all_of(buffer.own.begin(), buffer.own.end(), [&](const Pages& pages) {
      return pages.data == nullptr ||
             (std::all_of(pages.data - kLine, pages.data, isCanary) &&
              std::all_of(pages.data + buffer.bytes, pages.data + buffer.bytes + kLine, isCanary));
    });
  });
}

bool CellMemory::copyOut(std::uint64_t index, std::uint32_t place) {
  const Pages* pages = own(index, place);
  if (pages == nullptr || m_buffers[index].isReadOnly) {
    return false;
  }
  copy(m_buffers[index].shared.data, pages->data, m_buffers[index].bytes);
  return true;
}

void CellMemory::clear() {
  for (std::uint64_t index = 0; index < m_buffers.size(); ++index) {
    const Buffer& buffer = m_buffers[index];
    const Pages* pages = buffer.isReadOnly ? nullptr : own(index, 1);
    if (pages == nullptr) {
      continue;
    }
    if (buffer.bytes < kFreshFrom) {
      fill(pages->data, 0xFF, buffer.bytes);
      continue;
    }
    // All but the pages that have a canary.
    const std::uint64_t begin = roundUp(reinterpret_cast<std::uint64_t>(pages->data), kPageBytes);
    const std::uint64_t end = (reinterpret_cast<std::uint64_t>(pages->data) + buffer.bytes) / kPageBytes * kPageBytes;
    fill(pages->data, 0xFF, begin - reinterpret_cast<std::uint64_t>(pages->data));
    ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
    fill(reinterpret_cast<char*>(end), 0xFF, reinterpret_cast<std::uint64_t>(pages->data) + buffer.bytes - end);
  }
}

std::optional<CellMemory::Place> CellMemory::find(std::uint64_t address) const {
  for (std::uint32_t i = 0; i < m_buffers.size(); ++i) {
    const Buffer& buffer = m_buffers[i];
    const auto isIn = [address](const Pages& pages) {
      const auto begin = reinterpret_cast<std::uint64_t>(pages.reserved);
      return pages.reserved != nullptr && address >= begin && address < begin + pages.span;
    };
    const Pages* pages = isIn(buffer.shared) ? &buffer.shared : nullptr;
    for (auto own = buffer.own.begin(); pages == nullptr && own != buffer.own.end(); ++own) {
      pages = isIn(*own) ? &*own : nullptr;
    }
    if (pages != nullptr) {
      const auto begin = reinterpret_cast<std::uint64_t>(pages->data);
      return Place{i, address >= begin && address < begin + buffer.bytes, buffer.isReadOnly};
    }
  }
  return std::nullopt;
}

}  // namespace swage::cell
