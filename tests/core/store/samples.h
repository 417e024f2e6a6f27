// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "core/base/assert.h"
#include "core/base/random.h"
#include "core/store/record.h"
#include "tests/core/domain/samples.h"

namespace swage::testing {

inline void require(const Result<>& result) {
  SWAGE_ASSERT(result.has_value());
}

inline store::NewRun sampleRun() {
  store::NewRun run;
  run.task = sampleTask();
  run.bundlePath = "/bundle.swage";
  run.device = sampleDevice();
  run.seed = ~0ULL;
  run.timeBudgetSeconds = 60.0;
  run.maxEvaluations = 500;
  run.optionsJson = R"({"islands":4})";
  run.swageVersion = "0.1.0";
  return run;
}

inline store::NewCandidate sampleCandidate(domain::RunId run, std::int64_t proposal = 0, int island = 0) {
  store::NewCandidate candidate;
  candidate.run = run;
  candidate.island = island;
  candidate.madeBy = domain::OperatorKind::PatternSwap;
  candidate.parents = {domain::CandidateId(1), domain::CandidateId(2)};
  candidate.genome = sampleGenome();
  candidate.program = sampleProgram();
  candidate.program.source += "// " + std::to_string(proposal);
  candidate.sourceHash = "source-" + std::to_string(proposal);
  candidate.proposal = proposal;
  return candidate;
}

inline domain::CompiledBinary sampleBinary(const std::string& hash) {
  return {std::string("\x7F"
                      "ELF\0\xFF",
                      6) +
              hash,
          "ld.global " + hash,
          "warning: \xFF",
          {sampleFacts()},
          hash,
          1.25};
}

inline store::Record openForWriting(const std::filesystem::path& project) {
  return store::Record::open(project, store::Record::Mode::ReadWrite).value();
}

// A correct candidate that takes `timeNs`, in a cell.
inline domain::CandidateId addCorrect(store::Record& record, domain::RunId run, std::int64_t proposal, int island,
                                      const char* cell, double timeNs, double elapsedSeconds) {
  const auto id = record.addCandidate(sampleCandidate(run, proposal, island)).value();
  require(record.setCompiled(id, sampleBinary("binary-" + std::to_string(proposal)), *domain::Cell::parse(cell)));
  require(record.setEvaluation(id, correctIn(timeNs), elapsedSeconds));
  return id;
}

}  // namespace swage::testing
