// SPDX-License-Identifier: Apache-2.0
#include "core/engine/export_facts.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/engine/compiler_note.h"
#include "core/trust/sanitizer_report.h"
#include "core/trust/trust.h"

namespace swage::engine {
namespace {

using domain::AssuranceKind;
using domain::AssuranceVerdict;
using services::ExportGate;
using Kind = ExportGate::Kind;
using State = ExportGate::State;

constexpr domain::LineageReach kAncestors{.generationsUp = 6, .generationsDown = 0, .candidates = 32};

const domain::Correct* correctOf(const ExportEvidence& evidence) {
  return evidence.candidate.evaluation ? domain::asCorrect(*evidence.candidate.evaluation) : nullptr;
}

const domain::Assurance* assuranceOf(const ExportEvidence& evidence, AssuranceKind kind) {
  const auto& all = evidence.provenance.assurances;
  const auto found = std::find_if(all.begin(), all.end(), [kind](const auto& one) { return one.kind == kind; });
  return found == all.end() ? nullptr : &*found;
}

State stateOf(const domain::Assurance* assurance) {
  if (assurance == nullptr || assurance->verdict == AssuranceVerdict::Unavailable) {
    return State::NotRun;
  }
  return assurance->verdict == AssuranceVerdict::Passed ? State::Passed : State::Failed;
}

void count(ExportGate& gate, int checks, const std::vector<domain::OutputError>& errors) {
  gate.checks += checks;
  for (const domain::OutputError& error : errors) {
    if (!gate.worst || error.relativeL2 > gate.worst->relativeL2) {
      gate.worst = error;
    }
  }
}

bool isHard(const domain::InputErrors& inputs) {
  return inputs.inputs != domain::kTaskInputs && inputs.inputs != domain::kHeldBackInputs;
}

ExportGate verifiedGate(const ExportEvidence& evidence) {
  ExportGate gate{.kind = Kind::Verified, .state = State::Failed};
  const domain::Correct* correct = correctOf(evidence);
  if (correct == nullptr) {
    gate.detail = evidence.candidate.evaluation ? fmt::format("{}: {}", statusName(*evidence.candidate.evaluation),
                                                              domain::summary(*evidence.candidate.evaluation))
                                                : "its evaluation never ended";
    return gate;
  }
  gate.state = State::Passed;
  count(gate, 0, correct->errors);
  for (const domain::InputErrors& inputs : correct->byInputs) {
    gate.checks += inputs.inputs == domain::kTaskInputs ? inputs.checks : 0;
  }
  return gate;
}

template <class Wanted>
ExportGate inputsGate(Kind kind, const ExportEvidence& evidence, const Wanted& wanted) {
  ExportGate gate{.kind = kind};
  if (const domain::Correct* correct = correctOf(evidence)) {
    for (const domain::InputErrors& inputs : correct->byInputs) {
      if (wanted(inputs)) {
        count(gate, inputs.checks, inputs.errors);
        gate.state = State::Passed;
      }
    }
  }
  return gate;
}

// The evaluation in a fresh process is never cut short, so it has them all.
ExportGate hardGate(const ExportEvidence& evidence) {
  ExportGate gate = inputsGate(Kind::HardInputs, evidence, isHard);
  if (gate.state == State::NotRun && stateOf(assuranceOf(evidence, AssuranceKind::FreshProcess)) == State::Passed) {
    gate.state = State::Passed;
    gate.detail = "in a fresh process";
  }
  return gate;
}

ExportGate heldBackGate(const ExportEvidence& evidence) {
  ExportGate gate = inputsGate(Kind::HeldBackSeeds, evidence, [](const domain::InputErrors& inputs) {
    return inputs.inputs == domain::kHeldBackInputs;
  });
  if (const domain::Assurance* assurance = assuranceOf(evidence, AssuranceKind::HeldBackSeeds)) {
    gate.state = stateOf(assurance);
    gate.detail = assurance->detail;
  }
  return gate;
}

ExportGate sanitizerGate(const ExportEvidence& evidence) {
  ExportGate gate{.kind = Kind::Sanitizer};
  if (evidence.run.device.kind != domain::DeviceKind::Cuda || !evidence.candidate.program.plan.hasKernels()) {
    gate.state = State::NotApplicable;
    return gate;
  }
  for (const AssuranceKind tool : trust::kSanitizerTools) {
    const domain::Assurance* assurance = assuranceOf(evidence, tool);
    if (stateOf(assurance) == State::Failed) {
      gate.state = State::Failed;
      gate.detail = fmt::format("{}: {}", domain::name(tool), assurance->detail);
      return gate;
    }
    gate.checks += stateOf(assurance) == State::Passed ? 1 : 0;
    if (gate.detail.empty() && assurance != nullptr && stateOf(assurance) == State::NotRun) {
      gate.detail = assurance->detail;
    }
  }
  gate.state = gate.checks == static_cast<int>(trust::kSanitizerTools.size()) ? State::Passed : State::NotRun;
  return gate;
}

ExportGate assuredGate(Kind kind, const ExportEvidence& evidence, AssuranceKind assured) {
  ExportGate gate{.kind = kind};
  const domain::Assurance* assurance = assuranceOf(evidence, assured);
  gate.state = stateOf(assurance);
  if (assurance != nullptr) {
    gate.detail = assurance->detail;
  }
  return gate;
}

ExportGate fasterGate(const ExportEvidence& evidence) {
  ExportGate gate{.kind = Kind::Faster};
  const domain::Correct* correct = correctOf(evidence);
  if (!evidence.candidate.program.plan.hasKernels() && !evidence.candidate.program.plan.isCaptured) {
    gate.state = State::NotApplicable;
    return gate;
  }
  if (correct == nullptr || correct->timing.candidate.samples == 0 || correct->timing.screenedOut) {
    return gate;
  }
  gate.timing = correct->timing;
  gate.checks = correct->timing.candidate.samples;
  gate.speedup = evidence.provenance.speedup;
  gate.baselineMode = evidence.provenance.baselineMode;
  gate.overEager = exporting::speedupOverEager(evidence.provenance);
  gate.state = gate.speedup.low > 1.0 ? State::Passed : State::Failed;
  const auto& baselines = evidence.provenance.baselines;
  const auto fastest = std::find_if(baselines.begin(), baselines.end(), [&evidence](const domain::Baseline& baseline) {
    return baseline.mode == evidence.provenance.baselineMode;
  });
  if (fastest != baselines.end()) {
    gate.detail = fmt::format("fastest baseline: {}, {}", fastest->mode, exporting::timingText(fastest->timing));
  }
  return gate;
}

ExportGate shapesGate(const ExportEvidence& evidence) {
  ExportGate gate = assuredGate(Kind::HeldOutShapes, evidence, AssuranceKind::HeldOutShapes);
  if (!evidence.candidate.program.plan.hasKernels()) {
    gate.state = State::NotApplicable;
  }
  return gate;
}

Result<> readLineage(const store::Record& record, ExportEvidence& evidence) {
  exporting::Provenance& provenance = evidence.provenance;
  provenance.parents = evidence.candidate.parents;
  SWAGE_TRY_ASSIGN(const domain::Lineage family, record.lineage(evidence.candidate.id, kAncestors));
  for (const domain::CandidateRow& line : family.rows) {
    const bool isNear =
        line.id == evidence.candidate.id ||
        std::find(provenance.parents.begin(), provenance.parents.end(), line.id) != provenance.parents.end();
    if (!isNear) {
      provenance.ancestors.push_back(line.id);
    }
  }
  return {};
}

// What the gates are made of.
Result<> readChecks(const store::Record& record, ExportEvidence& evidence) {
  exporting::Provenance& provenance = evidence.provenance;
  if (const domain::Correct* correct = correctOf(evidence)) {
    provenance.evaluation = *correct;
    if (evidence.candidate.madeBy != domain::OperatorKind::Baseline) {  // which stands for the baseline itself
      provenance.speedup = domain::againstEager(correct->timing).times(evidence.run.eagerSpeedup);
    }
  }
  provenance.baselineMode = evidence.run.baselineMode;
  SWAGE_TRY_ASSIGN(provenance.baselines, record.baselines(evidence.run.id));
  SWAGE_TRY_ASSIGN(provenance.assurances, record.assurances(evidence.candidate.id));
  return {};
}

Result<> readProvenance(const store::Record& record, ExportEvidence& evidence) {
  const store::CandidateRecord& candidate = evidence.candidate;
  exporting::Provenance& provenance = evidence.provenance;
  provenance.run = evidence.run.id;
  provenance.candidate = candidate.id;
  provenance.seed = evidence.run.seed;
  provenance.swageVersion = SWAGE_VERSION;
  provenance.cell = candidate.cell ? candidate.cell->name() : std::string();
  provenance.madeBy = candidate.madeBy;
  provenance.genome = candidate.genome;
  if (!candidate.binaryHash.empty()) {
    SWAGE_TRY_ASSIGN(const std::string binary, record.binary(candidate.binaryHash));
    provenance.compiler = compilerNote(candidate.assembly, binary);
  }
  SWAGE_TRY(readChecks(record, evidence));
  SWAGE_TRY_ASSIGN(provenance.doubts, trust::doubtsOf(record, evidence.run.id));
  SWAGE_TRY_ASSIGN(provenance.sandbox, trust::sandboxOf(record, evidence.run.id));
  return readLineage(record, evidence);
}

}  // namespace

Result<ExportEvidence> readExportEvidence(const store::Record& record, domain::CandidateId candidate) {
  ExportEvidence evidence;
  SWAGE_TRY_ASSIGN(evidence.candidate, record.candidate(candidate));
  SWAGE_TRY_ASSIGN(evidence.run, record.run(evidence.candidate.run));
  SWAGE_TRY_ASSIGN(evidence.task, record.task(evidence.run.taskId));
  SWAGE_TRY(readProvenance(record, evidence));
  return evidence;
}

std::vector<ExportGate> exportGates(const ExportEvidence& evidence) {
  return {verifiedGate(evidence),
          hardGate(evidence),
          heldBackGate(evidence),
          sanitizerGate(evidence),
          assuredGate(Kind::FreshProcess, evidence, AssuranceKind::FreshProcess),
          fasterGate(evidence),
          shapesGate(evidence)};
}

Result<std::vector<ExportGate>> recordedGates(const store::Record& record, domain::CandidateId candidate) {
  ExportEvidence evidence;
  SWAGE_TRY_ASSIGN(evidence.candidate, record.candidate(candidate));
  SWAGE_TRY_ASSIGN(evidence.run, record.run(evidence.candidate.run));
  SWAGE_TRY(readChecks(record, evidence));
  return exportGates(evidence);
}

services::ExportFacts exportFacts(const ExportEvidence& evidence) {
  services::ExportFacts facts;
  facts.candidate = evidence.candidate.id;
  facts.taskName = evidence.task.name;
  facts.gates = exportGates(evidence);
  for (auto& [label, value] : exporting::provenanceLines(evidence.provenance, evidence.task, evidence.run.device)) {
    facts.provenance.push_back({std::move(label), std::move(value)});
  }
  return facts;
}

}  // namespace swage::engine
