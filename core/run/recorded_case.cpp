// SPDX-License-Identifier: Apache-2.0
#include "core/run/recorded_case.h"

#include <utility>

namespace swage::run {

std::optional<RecordedCase> RecordedCase::read(const store::Record& record, domain::CandidateId id) {
  Result<store::CandidateRecord> candidate = record.candidate(id);
  if (!candidate || !candidate->evaluation) {
    return std::nullopt;
  }
  Result<std::optional<domain::Profile>> profile = record.profile(id);
  return RecordedCase{std::move(*candidate), profile ? std::move(*profile) : std::nullopt};
}

judge::Case RecordedCase::on(const domain::DeviceInfo& device, const stats::Roofline& task,
                             domain::ScalarType type) const {
  return {.program = &candidate.program,
          .kernels = &candidate.kernels,
          .evaluation = &*candidate.evaluation,
          .profile = profile ? &*profile : nullptr,
          .device = &device,
          .task = task,
          .type = type};
}

std::vector<models::KernelNumbers> kernelNumbers(const judge::Case& what) {
  std::vector<models::KernelNumbers> numbers;
  for (const judge::KernelCase& kernel : judge::factsOf(what).kernels) {
    const judge::Facts& facts = kernel.facts;
    const double occupancy = facts.number("kernel.occupancy").value_or(0.0);
    models::KernelNumbers one{.entry = kernel.entry,
                              .registers = static_cast<int>(facts.number("kernel.registers").value_or(0.0)),
                              .occupancy = facts.number("kernel.achieved_occupancy").value_or(occupancy),
                              .lines = kernel.lines};
    for (domain::HotLine& line : one.lines) {
      line.share *= facts.number("kernel.share").value_or(1.0);
    }
    numbers.push_back(std::move(one));
  }
  return numbers;
}

}  // namespace swage::run
