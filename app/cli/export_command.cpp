// SPDX-License-Identifier: Apache-2.0
#include "app/cli/export_command.h"

#include <algorithm>

#include <fmt/format.h>

#include "app/cli/views.h"
#include "core/base/log.h"
#include "core/domain/record/winner.h"
#include "core/engine/export_facts.h"
#include "core/engine/export_files.h"

namespace swage::cli {

using Check = engine::ExportChecks::Check;

void ExportCommand::start() {
  if (const Result<> begun = begin(); !begun) {
    fail(begun.error());
  }
}

Result<> ExportCommand::begin() {
  SWAGE_TRY_ASSIGN(m_project, existingProject());
  SWAGE_TRY_ASSIGN(m_candidate, candidate());
  const std::vector<Check> wanted = checks();
  if (wanted.empty()) {
    finish();
    return {};
  }
  m_checks = std::make_unique<engine::ExportChecks>(context().parts.programs, m_project, m_candidate, wanted,
                                                    engine::ExportChecks::Keeping::IfPossible);
  connect(m_checks.get(), &engine::ExportChecks::checkStarted, this,
          [](domain::AssuranceKind kind) { log::info("checking: {}", domain::title(kind)); });
  connect(m_checks.get(), &engine::ExportChecks::checkEnded, this, [this](const domain::Assurance& assurance) {
    if (assurance.kind == domain::AssuranceKind::HeldOutShapes) {
      m_shapes = assurance;
    }
  });
  connect(m_checks.get(), &engine::ExportChecks::finished, this, &ExportCommand::handleChecked);
  m_checks->start();
  return {};
}

std::vector<Check> ExportCommand::checks() const {
  if (m_arguments.verify) {
    return {Check::FreshProcess, Check::Sanitizer, Check::HeldOutShapes};
  }
  return m_arguments.noChecks || m_arguments.preview ? std::vector<Check>() : std::vector{Check::HeldOutShapes};
}

Result<domain::CandidateId> ExportCommand::candidate() const {
  if (m_arguments.what.kind == RecordReference::Kind::Candidate) {
    return domain::CandidateId(m_arguments.what.number);
  }
  engine::RecordServiceImpl record;
  SWAGE_TRY(record.open(m_project));
  SWAGE_TRY_ASSIGN(const services::RunSummary run, record.run(domain::RunId(m_arguments.what.number)));
  const domain::CandidateId winner = domain::winnerOf(run);
  if (!winner.isValid()) {
    return Error(ErrorKind::InvalidInput, fmt::format("run r{} has no correct candidate", m_arguments.what.number),
                 "`swage resume` continues the search");
  }
  return winner;
}

void ExportCommand::interrupt(int signal, int count) {
  m_signal = signal;
  if (m_checks && count == 1) {
    m_checks->cancel();
  } else {
    Command::interrupt(signal, count);
  }
}

// What was found went into the record, and goes from there into the file.
void ExportCommand::handleChecked(const Result<>& done) {
  if (m_signal != 0) {
    Q_EMIT Command::done(exitCodeForSignal(m_signal));
  } else if (!done) {
    fail(done.error());
  } else {
    finish();
  }
}

void ExportCommand::finish() {
  const auto work = [this]() -> Result<> {
    SWAGE_TRY_ASSIGN(const store::Record record, store::Record::open(m_project, store::Record::Mode::ReadOnly));
    return finishWith(record);
  };
  const Result<> done = work();
  if (!done && m_foundWrong) {
    printError(done.error(), form());
    Q_EMIT Command::done(wire::ExitCode::VerificationFailed);
  } else if (!done) {
    fail(done.error());
  } else {
    Q_EMIT Command::done(wire::ExitCode::Ok);
  }
}

Result<> ExportCommand::finishWith(const store::Record& record) {
  SWAGE_TRY_ASSIGN(const engine::ExportEvidence evidence, engine::readExportEvidence(record, m_candidate));
  const services::ExportFacts facts = engine::exportFacts(evidence);
  m_foundWrong = m_arguments.verify && std::any_of(facts.gates.begin(), facts.gates.end(), services::blocksExport);
  SWAGE_TRY_ASSIGN(const services::ExportFiles files, engine::makeExportFiles(record, m_candidate, m_arguments.format));
  if (!m_arguments.preview) {
    SWAGE_TRY(write(files));
  }
  show(facts, files);
  return {};
}

// A file that is named is replaced, as compilers do; a folder may hold what nobody can make again.
Result<> ExportCommand::write(const services::ExportFiles& files) const {
  const bool mayReplace = m_arguments.force || m_arguments.format == services::ExportFormat::ModelNew;
  Result<> written = engine::writeExportFiles(
      files, m_arguments.output, mayReplace ? services::ExistingFiles::Replace : services::ExistingFiles::Keep);
  if (!written && written.error().kind() == ErrorKind::InvalidInput) {
    return std::move(written).error().withHint("choose another folder, or --force to write into this one");
  }
  return written;
}

void ExportCommand::show(const services::ExportFacts& facts, const services::ExportFiles& files) const {
  if (form() == OutputForm::Text) {
    print(gateTable(facts.gates));
    if (m_arguments.preview) {
      print("\n" + provenanceText(facts.provenance) + "\n" + fileTable(files.files));
    } else {
      print(fmt::format("candidate {} written to {}\n", m_candidate.value(), m_arguments.output.string()));
    }
    return;
  }
  domain::Json json = {{"candidate", m_candidate.value()},
                       {"format", name(m_arguments.format)},
                       {"file", m_arguments.preview ? domain::Json() : domain::Json(m_arguments.output.string())},
                       {"files", domain::Json::array()},
                       {"gates", domain::Json::array()},
                       {"held_out_shapes", m_shapes ? domain::toJson(*m_shapes) : domain::Json()}};
  for (const services::ExportFile& file : files.files) {
    json["files"].push_back({{"name", file.name}, {"bytes", file.content.size()}});
  }
  for (const services::ExportGate& gate : facts.gates) {
    json["gates"].push_back(toJson(gate));
  }
  printJson(json);
}

}  // namespace swage::cli
