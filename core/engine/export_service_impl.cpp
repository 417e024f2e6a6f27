// SPDX-License-Identifier: Apache-2.0
#include "core/engine/export_service_impl.h"

#include <fmt/format.h>

#include "core/base/files.h"
#include "core/domain/json.h"
#include "core/engine/safetensors.h"
#include "core/engine/trust.h"
#include "core/export/modelnew.h"
#include "core/store/task_bundle.h"

namespace swage::engine {
namespace {

// What task.json says beyond domain::Task.
Result<> readExtras(const std::filesystem::path& bundle, exporting::ModelNewInput& input) {
  SWAGE_TRY_ASSIGN(const std::string text, readTextFile(bundle / "task.json"));
  SWAGE_TRY_ASSIGN(const domain::Json json, domain::parseJson(text));
  if (const auto call = json.find("call"); call != json.end() && !call->is_null()) {
    input.call = call->dump();
  }
  if (const auto source = json.find("source"); source != json.end() && source->is_object()) {
    if (const auto init = source->find("init"); init != source->end() && init->is_string()) {
      input.init = init->get<std::string>();
    }
  }
  return {};
}

Result<> readConstants(const store::TaskBundle& bundle, exporting::ModelNewInput& input) {
  std::vector<std::string> names;
  for (const domain::GraphInput& graphInput : bundle.task.graph.inputs) {
    if (graphInput.kind == domain::InputKind::Constant) {
      names.push_back(graphInput.name);
    }
  }
  SWAGE_TRY_ASSIGN(input.constants, readSafetensors(bundle.weights, names));
  return {};
}

exporting::Provenance provenanceOf(const store::RunRow& run, const store::CandidateRecord& candidate,
                                   const domain::Correct& correct) {
  exporting::Provenance provenance;
  provenance.run = std::to_string(run.id.value());
  provenance.candidate = std::to_string(candidate.id.value());
  provenance.seed = static_cast<std::int64_t>(run.seed);
  provenance.swageVersion = SWAGE_VERSION;
  provenance.cell = candidate.cell ? candidate.cell->name() : std::string();
  const domain::PairedTiming& timing = correct.timing;
  provenance.measured = fmt::format("{:.2f}x of eager ({:.2f} to {:.2f}): {:.4g} ms instead of {:.4g} ms on {}",
                                    timing.speedup, timing.speedupLow, timing.speedupHigh,
                                    timing.candidate.medianNs * 1e-6, timing.eager.medianNs * 1e-6, run.device.name);
  return provenance;
}

Result<> addEvidence(const store::Record& record, const store::CandidateRecord& candidate,
                     exporting::Provenance& provenance) {
  SWAGE_TRY_ASSIGN(const std::vector<domain::Assurance> assurances, record.assurances(candidate.id));
  for (const domain::Assurance& assurance : assurances) {
    provenance.checked.push_back(describe(assurance));
  }
  SWAGE_TRY_ASSIGN(provenance.doubts, doubtsOf(record, candidate.run));
  return {};
}

Result<const domain::Correct*> verified(const store::CandidateRecord& candidate) {
  const domain::Correct* correct = candidate.evaluation ? domain::asCorrect(*candidate.evaluation) : nullptr;
  if (correct == nullptr) {
    return Error(ErrorKind::InvalidInput,
                 fmt::format("candidate {} is not verified ({})", candidate.id.value(),
                             candidate.evaluation ? domain::statusName(*candidate.evaluation) : "pending"),
                 "`swage list` shows the candidates that are correct");
  }
  return correct;
}

}  // namespace

Result<> ExportServiceImpl::exportCandidate(domain::CandidateId candidate, services::ExportFormat format,
                                            const std::filesystem::path& file) const {
  static_cast<void>(format);  // there is one
  SWAGE_TRY_ASSIGN(const store::Record record, store::Record::open(m_project, store::Record::Mode::ReadOnly));
  SWAGE_TRY_ASSIGN(const store::CandidateRecord row, record.candidate(candidate));
  SWAGE_TRY_ASSIGN(const domain::Correct* correct, verified(row));
  SWAGE_TRY_ASSIGN(const store::RunRow run, record.run(row.run));
  SWAGE_TRY_ASSIGN(const store::TaskBundle bundle, store::readTaskBundle(run.bundlePath));
  exporting::ModelNewInput input;
  input.task = bundle.task;
  SWAGE_TRY_ASSIGN(input.taskSource, readTextFile(bundle.source));
  input.program = row.program;
  input.device = run.device;
  if (row.program.target == domain::Target::Cuda && row.program.plan.hasKernels()) {
    SWAGE_TRY_ASSIGN(input.binary, record.binary(row.binaryHash));
  }
  SWAGE_TRY(readExtras(bundle.directory, input));
  SWAGE_TRY(readConstants(bundle, input));
  input.provenance = provenanceOf(run, row, *correct);
  SWAGE_TRY(addEvidence(record, row, input.provenance));
  SWAGE_TRY_ASSIGN(const std::string text, exporting::writeModelNew(input));
  return writeFileAtomically(file, text);
}

}  // namespace swage::engine
