// SPDX-License-Identifier: Apache-2.0
#include "core/device/cupti_profiler.h"

#include <utility>

#include "core/base/log.h"
#include "core/device/sass_listing.h"
#include "core/domain/cubins.h"

namespace swage::device {
namespace {

// Without a disassembler instructions have no text, and the report says so by that.
void addText(const CuptiLibrary& library, const std::string& cubin, const std::string& entry,
             std::vector<domain::InstructionSamples>& instructions) {
  const std::string program = findDisassembler(library.path);
  const auto listing = program.empty() ? std::nullopt : disassemble(program, cubin);
  if (!listing) {
    log::debug("instructions stay without text: {}", program.empty() ? "there is no nvdisasm" : "nvdisasm failed");
    return;
  }
  const SassListing sass = parseSass(*listing, entry);
  for (domain::InstructionSamples& instruction : instructions) {
    if (const auto found = sass.find(instruction.offset); found != sass.end()) {
      instruction.text = found->second.text;
      instruction.control = found->second.control;
    }
  }
}

}  // namespace

CuptiProfiler::CuptiProfiler(const CuptiLibrary& library, CUcontext context, int ordinal, MeasuringHooks hooks)
    : m_library(library), m_context(context), m_ordinal(ordinal), m_hooks(std::move(hooks)) {}

ProfilerResult<CounterReport> CuptiProfiler::counters(const Program& program) {
  m_sampler.reset();
  if (!m_counters) {
    auto opened = CuptiCounters::open(m_library, m_context, m_ordinal, m_hooks);
    if (!opened) {
      return tl::make_unexpected(std::move(opened).error());
    }
    m_counters = std::move(*opened);
  }
  auto report = m_counters->collect(program, m_range);
  if (!report && !report.error().poisoned && m_range == CuptiCounters::Range::Launch) {
    log::debug("counting again with ranges of our own: {}", report.error().cause);
    auto again = m_counters->collect(program, CuptiCounters::Range::Explicit);
    if (again) {
      m_range = CuptiCounters::Range::Explicit;
      return again;
    }
  }
  return report;
}

ProfilerResult<void> CuptiProfiler::beginSampling() {
  if (m_counters) {
    return tl::make_unexpected(ProfilerFailure{"sampling can only begin before counters are read", ""});
  }
  auto opened = CuptiSampler::open(m_library, m_context, m_hooks);
  if (!opened) {
    return tl::make_unexpected(std::move(opened).error());
  }
  m_sampler = std::move(*opened);
  return {};
}

ProfilerResult<SampleReport> CuptiProfiler::samples(const Program& program, const std::string& entry,
                                                    const std::string& binary) {
  if (!m_sampler) {
    return tl::make_unexpected(ProfilerFailure{"samples can only be taken after sampling began, before counters", ""});
  }
  auto report = m_sampler->collect(program, entry);
  if (report) {
    const std::string cubin(domain::cubinOf(binary, entry));
    addSourceLines(m_library, cubin, entry, report->instructions);
    addText(m_library, cubin, entry, report->instructions);
  }
  return report;
}

}  // namespace swage::device
