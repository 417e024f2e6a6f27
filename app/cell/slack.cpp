// SPDX-License-Identifier: Apache-2.0
#include "app/cell/slack.h"

#include <link.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace swage::cell {
namespace {

constexpr std::uintptr_t kMask = 4095;

struct Range {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};

// What can only be read once the object is loaded ends at a page's end, and then nothing lies before the variables.
bool hasReadOnlyHead(const dl_phdr_info& object, const ElfW(Phdr) & variables) {
  return std::any_of(object.dlpi_phdr, object.dlpi_phdr + object.dlpi_phnum, [&](const ElfW(Phdr) & segment) {
    return segment.p_type == PT_GNU_RELRO && segment.p_vaddr <= variables.p_vaddr &&
           segment.p_vaddr + segment.p_memsz > variables.p_vaddr;
  });
}

int addSlack(dl_phdr_info* object, std::size_t /*size*/, void* into) {
  auto& ranges = *static_cast<std::vector<Range>*>(into);
  for (const ElfW(Phdr)* segment = object->dlpi_phdr; segment != object->dlpi_phdr + object->dlpi_phnum; ++segment) {
    if (segment->p_type != PT_LOAD || (segment->p_flags & PF_W) == 0) {
      continue;
    }
    const std::uintptr_t first = object->dlpi_addr + segment->p_vaddr;
    const std::uintptr_t end = first + segment->p_memsz;
    if (!hasReadOnlyHead(*object, *segment)) {
      ranges.push_back({first & ~kMask, first});
    }
    ranges.push_back({end, (end + kMask) & ~kMask});
  }
  return 0;
}

}  // namespace

void PageSlack::remember() {
  std::vector<Range> ranges;
  ::dl_iterate_phdr(addSlack, &ranges);
  m_parts.clear();
  for (const Range& range : ranges) {
    const auto* first = reinterpret_cast<const char*>(range.begin);
    m_parts.push_back({first, std::vector<char>(first, first + (range.end - range.begin))});
  }
}

bool PageSlack::isUnchanged() const {
  return std::all_of(m_parts.begin(), m_parts.end(), [](const Part& part) {
    return part.bytes.empty() || std::memcmp(part.first, part.bytes.data(), part.bytes.size()) == 0;
  });
}

}  // namespace swage::cell
