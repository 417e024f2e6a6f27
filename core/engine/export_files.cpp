// SPDX-License-Identifier: Apache-2.0
#include "core/engine/export_files.h"

#include <algorithm>
#include <system_error>

#include <fmt/format.h>

#include "core/base/files.h"
#include "core/domain/json.h"
#include "core/engine/export_facts.h"
#include "core/export/modelnew.h"
#include "core/export/project.h"
#include "core/store/task_bundle.h"
#include "core/wire/safetensors.h"

namespace swage::engine {
namespace {

namespace fs = std::filesystem;

constexpr const char* kImportAgain = "import the task again";

// What task.json says beyond domain::Task.
Result<> readExtras(const fs::path& bundle, exporting::ModelNewInput& input) {
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

bool isConstant(const domain::GraphInput& input) {
  return input.kind == domain::InputKind::Constant;
}

Result<> readConstants(const store::TaskBundle& bundle, exporting::ModelNewInput& input) {
  const std::vector<domain::GraphInput>& inputs = bundle.task.graph.inputs;
  if (std::none_of(inputs.begin(), inputs.end(), isConstant)) {
    return {};
  }
  const auto file = wire::SafetensorsFile::open(bundle.weights);
  if (!file) {
    return Error(file.error()).withHint(kImportAgain);
  }
  for (const domain::GraphInput& constant : inputs) {
    if (!isConstant(constant)) {
      continue;
    }
    const auto* tensor = file->find(constant.name);
    if (tensor == nullptr) {
      return Error(ErrorKind::InvalidInput,
                   fmt::format("'{}' has no tensor '{}'", bundle.weights.string(), constant.name), kImportAgain);
    }
    input.constants[constant.name].assign(reinterpret_cast<const char*>(tensor->bytes.data()), tensor->bytes.size());
  }
  return {};
}

Result<std::string> readApplied(const store::TaskBundle& bundle) {
  auto text = readTextFile(bundle.applied);
  return text ? std::move(text) : std::move(text).error().withHint(kImportAgain);
}

Result<> admit(const ExportEvidence& evidence) {
  for (const services::ExportGate& gate : exportGates(evidence)) {
    if (services::blocksExport(gate)) {
      return Error(ErrorKind::InvalidInput,
                   fmt::format("candidate {} cannot be exported: {} {}{}{}", evidence.candidate.id.value(),
                               title(gate.kind), name(gate.state), gate.detail.empty() ? "" : ": ", gate.detail),
                   "choose a candidate that is correct");
    }
  }
  return {};
}

Result<exporting::ModelNewInput> readInput(const store::Record& record, ExportEvidence evidence) {
  SWAGE_TRY_ASSIGN(const store::TaskBundle bundle, store::readTaskBundle(evidence.run.bundlePath));
  exporting::ModelNewInput input;
  input.task = bundle.task;
  SWAGE_TRY_ASSIGN(input.taskSource, readApplied(bundle));
  // The task's own operators stand for PyTorch's ways, of which the fastest one is what the user wants.
  if (evidence.candidate.madeBy == domain::OperatorKind::Baseline) {
    input.pytorchMode = evidence.run.baselineMode.empty() ? "eager" : evidence.run.baselineMode;
  }
  input.program = std::move(evidence.candidate.program);
  input.device = evidence.run.device;
  const bool carriesBinary = domain::factsOf(input.program.language).launch == domain::LaunchConvention::DriverLaunch;
  if (carriesBinary && input.program.plan.hasKernels()) {
    SWAGE_TRY_ASSIGN(input.binary, record.binary(evidence.candidate.binaryHash));
  }
  SWAGE_TRY(readExtras(bundle.directory, input));
  SWAGE_TRY(readConstants(bundle, input));
  input.provenance = std::move(evidence.provenance);
  return input;
}

bool isOccupied(const fs::path& target, bool isFolder) {
  std::error_code ignored;
  return isFolder ? fs::exists(target, ignored) && !(fs::is_directory(target, ignored) && fs::is_empty(target, ignored))
                  : fs::exists(target, ignored);
}

Result<> writeAll(const std::vector<services::ExportFile>& files, const fs::path& folder) {
  for (const services::ExportFile& file : files) {
    SWAGE_TRY(writeFileAtomically(folder / file.name, file.content));
  }
  return {};
}

Result<> writeFolder(const std::vector<services::ExportFile>& files, const fs::path& folder) {
  std::error_code failure;
  const bool isNew = fs::create_directories(folder, failure);
  if (failure) {
    return Error(ErrorKind::Io, fmt::format("cannot make the folder '{}': {}", folder.string(), failure.message()),
                 "choose another folder");
  }
  Result<> written = writeAll(files, folder);
  if (!written && isNew) {
    fs::remove_all(folder, failure);
  }
  return written;
}

}  // namespace

Result<services::ExportFiles> makeExportFiles(const store::Record& record, domain::CandidateId candidate,
                                              services::ExportFormat format) {
  SWAGE_TRY_ASSIGN(ExportEvidence evidence, readExportEvidence(record, candidate));
  SWAGE_TRY(admit(evidence));
  SWAGE_TRY_ASSIGN(const exporting::ModelNewInput input, readInput(record, std::move(evidence)));
  services::ExportFiles result{.candidate = candidate, .format = format, .suggestedName = {}, .files = {}};
  if (format == services::ExportFormat::ModelNew) {
    result.suggestedName = input.task.name + "_new.py";
    SWAGE_TRY_ASSIGN(std::string text, exporting::writeModelNew(input));
    result.files.push_back({result.suggestedName, std::move(text)});
    return result;
  }
  result.suggestedName = input.task.name + "_new";
  SWAGE_TRY_ASSIGN(std::vector<exporting::ExportedFile> files, exporting::writeProject(input));
  for (exporting::ExportedFile& file : files) {
    result.files.push_back({std::move(file.name), std::move(file.content)});
  }
  return result;
}

Result<> writeExportFiles(const services::ExportFiles& files, const fs::path& target,
                          services::ExistingFiles existing) {
  const bool isFolder = files.format == services::ExportFormat::Project;
  if (existing == services::ExistingFiles::Keep && isOccupied(target, isFolder)) {
    return Error(ErrorKind::InvalidInput,
                 fmt::format("'{}' {}", target.string(), isFolder ? "is there and not empty" : "is there already"),
                 "choose another place, or say that it may be replaced");
  }
  if (isFolder) {
    return writeFolder(files.files, target);
  }
  return writeFileAtomically(target, files.files.front().content);
}

}  // namespace swage::engine
