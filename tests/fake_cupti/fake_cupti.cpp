// SPDX-License-Identifier: Apache-2.0
// A CUPTI that delivers, when it is flushed, the records of $SWAGE_FAKE_CUPTI: "KIND,START,END" separated by ";", with
// KIND kernel, memcpy, memset or other. "lost" stands for a record that was dropped, "refuse" for a device that does
// not let itself be recorded.
#include <cupti_activity.h>

#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

namespace {

CUpti_BuffersCallbackRequestFunc g_request = nullptr;
CUpti_BuffersCallbackCompleteFunc g_complete = nullptr;
std::size_t g_dropped = 0;
int g_enabled = 0;

std::vector<std::string> script() {
  const char* text = std::getenv("SWAGE_FAKE_CUPTI");
  std::vector<std::string> lines;
  std::istringstream stream(text != nullptr ? text : "");
  for (std::string line; std::getline(stream, line, ';');) {
    lines.push_back(line);
  }
  return lines;
}

template <class Record>
void put(std::uint8_t*& at, CUpti_ActivityKind kind, std::uint64_t start, std::uint64_t end) {
  Record record{};
  record.kind = kind;
  record.start = start;
  record.end = end;
  std::memcpy(at, &record, sizeof record);
  at += 512;  // larger than every record
}

}  // namespace

extern "C" {

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                           CUpti_BuffersCallbackCompleteFunc complete) {
  g_request = request;
  g_complete = complete;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityEnable(CUpti_ActivityKind) {
  for (const std::string& line : script()) {
    if (line == "refuse") {
      return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
    }
  }
  ++g_enabled;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityDisable(CUpti_ActivityKind) {
  --g_enabled;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityFlushAll(std::uint32_t) {
  std::uint8_t* buffer = nullptr;
  std::size_t bytes = 0;
  std::size_t records = 0;
  g_request(&buffer, &bytes, &records);
  std::uint8_t* at = buffer;
  for (const std::string& line : script()) {
    char kind[16] = "";
    unsigned long long start = 0;
    unsigned long long end = 0;
    if (line == "lost") {
      ++g_dropped;
    } else if (std::sscanf(line.c_str(), "%15[a-z],%llu,%llu", kind, &start, &end) == 3) {
      if (std::strcmp(kind, "kernel") == 0) {
        put<CUpti_ActivityKernel9>(at, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, start, end);
      } else if (std::strcmp(kind, "memcpy") == 0) {
        put<CUpti_ActivityMemcpy5>(at, CUPTI_ACTIVITY_KIND_MEMCPY, start, end);
      } else if (std::strcmp(kind, "memset") == 0) {
        put<CUpti_ActivityMemset4>(at, CUPTI_ACTIVITY_KIND_MEMSET, start, end);
      } else {
        put<CUpti_ActivityKernel9>(at, CUPTI_ACTIVITY_KIND_NAME, start, end);
      }
    }
  }
  g_complete(nullptr, 0, buffer, bytes, static_cast<std::size_t>(at - buffer));
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid, CUpti_Activity** record) {
  std::uint8_t* next = *record == nullptr ? buffer : reinterpret_cast<std::uint8_t*>(*record) + 512;
  if (next >= buffer + valid) {
    return CUPTI_ERROR_MAX_LIMIT_REACHED;
  }
  *record = reinterpret_cast<CUpti_Activity*>(next);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, std::uint32_t, std::size_t* dropped) {
  *dropped = g_dropped;
  g_dropped = 0;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetResultString(CUptiResult code, const char** text) {
  *text = code == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES ? "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES" : "CUPTI_ERROR";
  return CUPTI_SUCCESS;
}
// How many kinds are being recorded.
int swageFakeCuptiEnabled() {
  return g_enabled;
}
}
