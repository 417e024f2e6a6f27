// SPDX-License-Identifier: Apache-2.0
// A management library with one GPU, "GPU-fake", that goes through a script: $SWAGE_FAKE_NVML is a list of samples
// "SM-MHZ,MEMORY-MHZ,CELSIUS,MILLIWATTS,REASONS" separated by ";". The last one stays. Asking for the reasons, which a
// session does last of them, moves on to the next. "MIG-part" is an instance of that GPU.
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

namespace {

struct State {
  std::string rest;
  unsigned long long numbers[5] = {};
};

// As the library lays it out.
struct Utilization {
  unsigned process;
  unsigned long long time;
  unsigned multiprocessors;
  unsigned memory;
  unsigned encoder;
  unsigned decoder;
};

State& instance() {
  static State part;
  return part;
}

State& state() {
  static State instance;
  return instance;
}

void advance() {
  State& now = state();
  if (now.rest.empty()) {
    return;
  }
  const auto end = now.rest.find(';');
  const std::string line = now.rest.substr(0, end);
  now.rest = end == std::string::npos ? std::string() : now.rest.substr(end + 1);
  const char* at = line.c_str();
  for (unsigned long long& number : now.numbers) {
    char* next = nullptr;
    number = std::strtoull(at, &next, 0);
    at = *next == ',' ? next + 1 : next;
  }
}

int give(unsigned long long number, unsigned* into) {
  *into = static_cast<unsigned>(number);
  return 0;
}

}  // namespace

extern "C" {

int nvmlInit_v2() {
  const char* script = std::getenv("SWAGE_FAKE_NVML");
  state() = {};
  state().rest = script != nullptr ? script : "";
  advance();
  return script != nullptr ? 0 : 9;  // as without a driver
}
int nvmlShutdown() {
  return 0;
}
int nvmlSystemGetDriverVersion(char* text, unsigned size) {
  std::strncpy(text, "580.1", size);
  return 0;
}
int nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
  if (std::strcmp(uuid, "MIG-part") == 0) {
    *device = &instance();
    return 0;
  }
  *device = &state();
  return std::strcmp(uuid, "GPU-fake") == 0 ? 0 : 6;
}
int nvmlDeviceGetDeviceHandleFromMigDeviceHandle(void* device, void** parent) {
  *parent = &state();
  return device == &instance() ? 0 : 2;
}
// $SWAGE_FAKE_NVML_USES is "PROCESS,PERCENT;..."; "self" is the process that asks. Each question finds them anew.
int nvmlDeviceGetProcessUtilization(void*, Utilization* into, unsigned* count, unsigned long long since) {
  const char* uses = std::getenv("SWAGE_FAKE_NVML_USES");
  unsigned found = 0;
  for (const char* at = uses; at != nullptr && *at != '\0' && found < *count; ++found) {
    const bool isSelf = std::strncmp(at, "self", 4) == 0;
    char* next = const_cast<char*>(at) + 4;
    const auto process = isSelf ? static_cast<unsigned long>(::getpid()) : std::strtoul(at, &next, 10);
    const auto percent = std::strtoul(next + 1, &next, 10);
    into[found] = {static_cast<unsigned>(process), since + 1, static_cast<unsigned>(percent), 0, 0, 0};
    at = *next == ';' ? next + 1 : next;
  }
  *count = found;
  return found > 0 ? 0 : 6;
}
int nvmlDeviceGetClockInfo(void*, int kind, unsigned* megahertz) {
  return give(state().numbers[kind == 1 ? 0 : 1], megahertz);
}
int nvmlDeviceGetMaxClockInfo(void*, int, unsigned* megahertz) {
  return give(1980, megahertz);
}
int nvmlDeviceGetTemperature(void*, int, unsigned* celsius) {
  return give(state().numbers[2], celsius);
}
int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts) {
  return give(state().numbers[3], milliwatts);
}
int nvmlDeviceGetCurrentClocksEventReasons(void*, unsigned long long* mask) {
  *mask = state().numbers[4];
  advance();
  return 0;
}
}
