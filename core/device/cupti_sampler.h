// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/device/cupti_counters.h"
#include "core/device/cupti_library.h"

namespace swage::device {

// Samples of the program counter by CUPTI, in ranges that we begin and end around a launch. Must be gone before a
// CuptiCounters is opened: they use the same hardware.
class CuptiSampler {
 public:
  [[nodiscard]] static ProfilerResult<std::unique_ptr<CuptiSampler>> open(const CuptiLibrary& library,
                                                                          CUcontext context, MeasuringHooks hooks);
  ~CuptiSampler();
  CuptiSampler(const CuptiSampler&) = delete;
  CuptiSampler& operator=(const CuptiSampler&) = delete;

  // Runs the program until there are enough samples, and gives those of `entry`.
  [[nodiscard]] ProfilerResult<SampleReport> collect(const Profiler::Program& program, const std::string& entry);

 private:
  using Failed = std::optional<ProfilerFailure>;
  struct Buffer {
    std::vector<CUpti_PCSamplingPCData> records;
    std::vector<CUpti_PCSamplingStallReason> stalls;  // of all records
    CUpti_PCSamplingData data{};
  };

  CuptiSampler(const CuptiLibrary& library, CUcontext context, MeasuringHooks hooks)
      : m_cupti(library), m_context(context), m_hooks(std::move(hooks)) {}
  [[nodiscard]] Failed check(CUptiResult code, std::string_view attempted) const;
  [[nodiscard]] Failed enable();
  [[nodiscard]] Failed readStallReasons();
  void allocate(Buffer& buffer) const;
  [[nodiscard]] Failed configure();
  [[nodiscard]] Failed runOnce(const Profiler::Program& program);
  [[nodiscard]] DeviceStatus measure(const Profiler::Launch& launch, Failed& failed);
  [[nodiscard]] Failed fetch();
  void take(const CUpti_PCSamplingPCData& record);

  const CuptiLibrary& m_cupti;
  CUcontext m_context;
  MeasuringHooks m_hooks;
  bool m_enabled = false;
  std::vector<std::string> m_reasons;  // by index
  std::vector<std::uint32_t> m_reasonIndices;
  // CUPTI fills the one, and hands its records over into the other when it is asked.
  Buffer m_filled;
  Buffer m_read;

  std::string m_entry;
  std::map<std::int64_t, std::map<std::string, std::int64_t>> m_found;  // by offset and reason
  SampleReport m_report;
};

// Lines of the candidate's source by offset in the code of `entry`, from the line table of the cubin; 0 where it knows
// none, or where the code comes from a header.
void addSourceLines(const CuptiLibrary& library, const std::string& cubin, const std::string& entry,
                    std::vector<domain::InstructionSamples>& instructions);

}  // namespace swage::device
