// SPDX-License-Identifier: Apache-2.0
#include "core/device/perf_sampler.h"

#include <linux/perf_event.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

// The ring buffer of an event is a page of facts and then 2^n pages of records. The kernel moves data_head, the reader
// data_tail; both only grow, and records wrap around the end (perf_event_open(2), "MMAP layout").
namespace swage::device {
namespace {

constexpr std::size_t kDataPages = 4;  // a few hundred samples; the system lends a user half a MiB in all
constexpr int kWantedRate = 20000;     // samples a second

std::size_t pageBytes() {
  return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

std::size_t ringBytes() {
  return (1 + kDataPages) * pageBytes();
}

perf_event_attr attributesOf(std::uint32_t type, std::uint64_t config, int rate) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = type;
  attributes.config = config;
  attributes.freq = 1;
  attributes.sample_freq = static_cast<std::uint64_t>(rate);
  attributes.sample_type = PERF_SAMPLE_IP;
  attributes.disabled = 1;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  return attributes;
}

// Copies out of the ring, around its end.
void copyFrom(const unsigned char* data, std::size_t size, std::uint64_t at, void* target, std::size_t bytes) {
  const std::size_t first = std::min(bytes, size - static_cast<std::size_t>(at % size));
  std::memcpy(target, data + at % size, first);
  std::memcpy(static_cast<unsigned char*>(target) + first, data, bytes - first);
}

}  // namespace

ProfilerResult<PerfSampler> PerfSampler::open(PerfSystem& system, const std::vector<pid_t>& threads) {
  PerfSampler sampler(system);
  for (const pid_t thread : threads) {
    const int error = sampler.openThread(thread);
    if (error != 0 && sampler.m_rings.empty()) {
      return tl::make_unexpected(perfFailure(error, system.paranoid()));
    }
    if (error != 0) {
      break;  // the memory that a user may lock is used up: the threads before are as good as all
    }
  }
  if (sampler.m_rings.empty()) {
    return tl::make_unexpected(ProfilerFailure{"there is no thread to sample", ""});
  }
  return sampler;
}

PerfSampler::~PerfSampler() {
  for (const Ring& ring : m_rings) {
    m_system->unmap(ring.memory, ringBytes());
  }
}

// 0, or a positive errno.
int PerfSampler::openThread(pid_t thread) {
  const int rate = std::min(kWantedRate, m_system->maxSampleRate());
  int fd = m_system->open(attributesOf(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, rate), thread, -1);
  if (fd < 0) {
    fd = m_system->open(attributesOf(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, rate), thread, -1);
  }
  if (fd < 0) {
    return -fd;
  }
  PerfEventFd event(*m_system, fd);
  void* const memory = m_system->map(fd, ringBytes());
  if (memory == nullptr) {
    return EPERM;
  }
  m_rings.push_back({std::move(event), memory});
  return 0;
}

void PerfSampler::start() {
  for (auto ring = m_rings.rbegin(); ring != m_rings.rend(); ++ring) {
    m_system->enable(ring->event.get());
  }
}

void PerfSampler::stop() {
  for (const Ring& ring : m_rings) {
    m_system->disable(ring.event.get());
  }
}

void PerfSampler::drain(std::vector<Addresses>& samples) {
  samples.resize(std::max(samples.size(), m_rings.size()));
  for (std::size_t i = 0; i < m_rings.size(); ++i) {
    drain(m_rings[i], samples[i]);
  }
}

void PerfSampler::drain(const Ring& ring, Addresses& samples) {
  auto* const page = static_cast<perf_event_mmap_page*>(ring.memory);
  const auto* const data = static_cast<const unsigned char*>(ring.memory) + pageBytes();
  const std::size_t size = kDataPages * pageBytes();
  const std::uint64_t head = std::atomic_ref(page->data_head).load(std::memory_order_acquire);
  std::uint64_t tail = page->data_tail;
  while (tail < head) {
    perf_event_header header{};
    copyFrom(data, size, tail, &header, sizeof header);
    if (header.size < sizeof header || header.size > head - tail) {
      break;
    }
    std::uint64_t words[2] = {0, 0};
    copyFrom(data, size, tail + sizeof header, words, std::min(header.size - sizeof header, sizeof words));
    if (header.type == PERF_RECORD_SAMPLE) {
      ++samples[words[0]];
    } else if (header.type == PERF_RECORD_LOST) {
      m_lost += static_cast<std::int64_t>(words[1]);
    }
    tail += header.size;
  }
  std::atomic_ref(page->data_tail).store(head, std::memory_order_release);
}

}  // namespace swage::device
