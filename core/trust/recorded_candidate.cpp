// SPDX-License-Identifier: Apache-2.0
#include "core/trust/recorded_candidate.h"

#include <utility>

#include <fmt/format.h>

#include "core/store/task_bundle.h"
#include "core/trust/load_request.h"

namespace swage::trust {

Result<RecordedCandidate> readCandidate(const store::Record& record, domain::CandidateId id) {
  SWAGE_TRY_ASSIGN(const store::CandidateRecord candidate, record.candidate(id));
  SWAGE_TRY_ASSIGN(const store::RunRow run, record.run(candidate.run));
  SWAGE_TRY_ASSIGN(const store::TaskBundle bundle, store::readTaskBundle(run.bundlePath));
  RecordedCandidate result;
  if (candidate.program.plan.steps.empty()) {
    return Error(ErrorKind::InvalidInput, fmt::format("candidate {} has no program", id.value()));
  }
  if (candidate.program.plan.hasKernels()) {
    if (candidate.binaryHash.empty()) {
      return Error(ErrorKind::InvalidInput, fmt::format("candidate {} was never compiled", id.value()));
    }
    SWAGE_TRY_ASSIGN(result.binary, record.binary(candidate.binaryHash));
  }
  result.device = domain::factsOf(candidate.program.language).device;
  result.plan = candidate.program.plan;
  result.kernels = candidate.kernels;
  result.assembly = candidate.assembly;
  result.load = loadRequest(bundle, run.seed, result.device);
  return result;
}

}  // namespace swage::trust
