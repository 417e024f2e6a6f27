// SPDX-License-Identifier: Apache-2.0
#include "core/device/cupti_activity.h"

#include <cupti_activity.h>
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/device/cupti_loader.h"

namespace swage::device {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;  // thousands of records
constexpr std::size_t kBufferAlignment = 8;                 // CUPTI's own ACTIVITY_RECORD_ALIGNMENT
constexpr std::array kKinds = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                               CUPTI_ACTIVITY_KIND_MEMSET};

#define SWAGE_CUPTI_ACTIVITY_FUNCTIONS(X) \
  X(cuptiActivityRegisterCallbacks)       \
  X(cuptiActivityEnable)                  \
  X(cuptiActivityDisable)                 \
  X(cuptiActivityFlushAll)                \
  X(cuptiActivityGetNextRecord)           \
  X(cuptiActivityGetNumDroppedRecords)    \
  X(cuptiGetResultString)

struct Functions {
#define SWAGE_CUPTI_MEMBER(function) decltype(&::function) function = nullptr;
  SWAGE_CUPTI_ACTIVITY_FUNCTIONS(SWAGE_CUPTI_MEMBER)
#undef SWAGE_CUPTI_MEMBER
};

// CUPTI's callbacks carry no pointer of ours, and may come on a thread of its own.
struct Inbox {
  std::mutex mutex;
  const Functions* functions = nullptr;
  std::vector<ActivitySpan> spans;
  std::size_t dropped = 0;
};

Inbox& inbox() {
  static Inbox instance;
  return instance;
}

template <class Record>
ActivitySpan spanOf(const CUpti_Activity* record) {
  const auto* typed = reinterpret_cast<const Record*>(record);
  return {typed->start, typed->end};
}

// Later versions of these records only grow at the end.
ActivitySpan spanOf(const CUpti_Activity* record) {
  switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: return spanOf<CUpti_ActivityKernel9>(record);
    case CUPTI_ACTIVITY_KIND_MEMCPY: return spanOf<CUpti_ActivityMemcpy5>(record);
    case CUPTI_ACTIVITY_KIND_MEMSET: return spanOf<CUpti_ActivityMemset4>(record);
    default: return {};
  }
}

// No record comes when there is no buffer, and stop() says so.
void CUPTIAPI giveBuffer(std::uint8_t** buffer, std::size_t* bytes, std::size_t* records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(kBufferAlignment, kBufferBytes));
  *bytes = *buffer != nullptr ? kBufferBytes : 0;
  *records = 0;
}

void CUPTIAPI takeBuffer(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t /*bytes*/,
                         std::size_t valid) {
  Inbox& box = inbox();
  const std::lock_guard lock(box.mutex);
  CUpti_Activity* record = nullptr;
  while (valid > 0 && box.functions != nullptr &&
         box.functions->cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
    if (const ActivitySpan span = spanOf(record); span.end > span.start) {
      box.spans.push_back(span);
    }
  }
  std::size_t dropped = 0;
  if (box.functions != nullptr &&
      box.functions->cuptiActivityGetNumDroppedRecords(context, stream, &dropped) == CUPTI_SUCCESS) {
    box.dropped += dropped;
  }
  std::free(buffer);
}

std::string nameOf(const Functions& functions, CUptiResult code) {
  const char* text = nullptr;
  return functions.cuptiGetResultString(code, &text) == CUPTI_SUCCESS && text != nullptr ? std::string(text)
                                                                                         : std::to_string(code);
}

Error failure(const Functions& functions, std::string_view attempted, CUptiResult code) {
  return Error(ErrorKind::Environment, fmt::format("CUPTI cannot {}: {}", attempted, nameOf(functions, code)));
}

}  // namespace

double busyNanoseconds(std::vector<ActivitySpan> spans) {
  std::sort(spans.begin(), spans.end(), [](const ActivitySpan& a, const ActivitySpan& b) { return a.start < b.start; });
  std::uint64_t busy = 0;
  std::uint64_t covered = 0;  // everything before it is counted
  for (const ActivitySpan& span : spans) {
    const std::uint64_t from = std::max(span.start, covered);
    if (span.end > from) {
      busy += span.end - from;
      covered = span.end;
    }
  }
  return static_cast<double>(busy);
}

struct CuptiActivity::Library {
  Functions functions;  // the library itself stays loaded: its threads may still be in it
};

Result<std::unique_ptr<CuptiActivity>> CuptiActivity::open(const std::string& library) {
  SWAGE_TRY_ASSIGN(void* const handle, loadCupti(library));
  auto opened = std::make_unique<Library>();
  Functions& functions = opened->functions;
#define SWAGE_CUPTI_FIND(function)                                                                 \
  functions.function = reinterpret_cast<decltype(functions.function)>(::dlsym(handle, #function)); \
  if (functions.function == nullptr) {                                                             \
    return Error(ErrorKind::Environment, "this CUPTI lacks " #function);                           \
  }
  SWAGE_CUPTI_ACTIVITY_FUNCTIONS(SWAGE_CUPTI_FIND)
#undef SWAGE_CUPTI_FIND
  Inbox& box = inbox();
  {
    const std::lock_guard lock(box.mutex);
    box.functions = &functions;
  }
  if (const CUptiResult code = functions.cuptiActivityRegisterCallbacks(giveBuffer, takeBuffer);
      code != CUPTI_SUCCESS) {
    const std::lock_guard lock(box.mutex);
    box.functions = nullptr;
    return failure(functions, "take buffers", code);
  }
  return std::unique_ptr<CuptiActivity>(new CuptiActivity(std::move(opened)));
}

CuptiActivity::CuptiActivity(std::unique_ptr<Library> library) : m_library(std::move(library)) {}

CuptiActivity::~CuptiActivity() {
  const std::lock_guard lock(inbox().mutex);
  inbox().functions = nullptr;
}

Result<> CuptiActivity::start() {
  {
    const std::lock_guard lock(inbox().mutex);
    inbox().spans.clear();
    inbox().dropped = 0;
  }
  for (const CUpti_ActivityKind kind : kKinds) {
    if (const CUptiResult code = m_library->functions.cuptiActivityEnable(kind); code != CUPTI_SUCCESS) {
      for (const CUpti_ActivityKind enabled : kKinds) {
        (void)m_library->functions.cuptiActivityDisable(enabled);  // of those that were not on, it says just that
      }
      return failure(m_library->functions, "record activity", code);
    }
  }
  return {};
}

Result<std::vector<ActivitySpan>> CuptiActivity::stop() {
  const Functions& functions = m_library->functions;
  const CUptiResult flushed = functions.cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  CUptiResult disabled = CUPTI_SUCCESS;
  for (const CUpti_ActivityKind kind : kKinds) {
    const CUptiResult code = functions.cuptiActivityDisable(kind);
    disabled = code != CUPTI_SUCCESS ? code : disabled;
  }
  if (flushed != CUPTI_SUCCESS || disabled != CUPTI_SUCCESS) {
    return failure(functions, "hand over its records", flushed != CUPTI_SUCCESS ? flushed : disabled);
  }
  const std::lock_guard lock(inbox().mutex);
  if (inbox().dropped > 0) {
    return Error(ErrorKind::Environment, fmt::format("CUPTI lost {} records", inbox().dropped));
  }
  return std::move(inbox().spans);
}

}  // namespace swage::device
