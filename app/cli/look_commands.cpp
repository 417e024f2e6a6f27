// SPDX-License-Identifier: Apache-2.0
#include "app/cli/look_commands.h"

#include <fmt/format.h>

#include "core/domain/listing.h"
#include "core/domain/record/winner.h"

namespace swage::cli {
namespace {

Result<ComparedSide> readNamed(const std::filesystem::path& project, const RecordReference& what) {
  domain::CandidateId id(what.number);
  if (what.kind == RecordReference::Kind::Run) {
    engine::RecordServiceImpl service;
    SWAGE_TRY(service.open(project));
    SWAGE_TRY_ASSIGN(const services::RunSummary run, service.run(domain::RunId(what.number)));
    id = domain::winnerOf(run);
    if (!id.isValid()) {
      return Error(ErrorKind::InvalidInput, fmt::format("run r{} has no correct candidate", what.number),
                   "`swage list` shows the runs");
    }
  }
  return readCompared(project, id);
}

}  // namespace

Result<ComparedSide> readCompared(const std::filesystem::path& project, domain::CandidateId candidate) {
  engine::RecordServiceImpl service;
  SWAGE_TRY(service.open(project));
  ComparedSide compared{.project = project, .run = {}, .detail = {}};
  SWAGE_TRY_ASSIGN(compared.detail, service.candidate(candidate));
  SWAGE_TRY_ASSIGN(const store::Record record, store::Record::open(project, store::Record::Mode::ReadOnly));
  SWAGE_TRY_ASSIGN(compared.run, record.run(compared.detail.row.run));
  return compared;
}

void CompareCommand::start() {
  if (const Result<> shown = show(); !shown) {
    fail(shown.error());
    return;
  }
  Q_EMIT done(wire::ExitCode::Ok);
}

Result<> CompareCommand::show() const {
  SWAGE_TRY_ASSIGN(const std::filesystem::path project, existingProject());
  const std::filesystem::path& other = m_arguments.otherProject;
  SWAGE_TRY_ASSIGN(const ComparedSide a, readNamed(project, m_arguments.left));
  SWAGE_TRY_ASSIGN(const ComparedSide b, readNamed(other.empty() ? project : other, m_arguments.right));
  const ComparisonDiffs diffs = diffsOf(a, b, m_arguments.source, m_arguments.assembly);
  if (form() == OutputForm::Text) {
    print(comparisonText(a, b, diffs));
  } else {
    printJson(comparisonJson(a, b, diffs));
  }
  return {};
}

void DisasmCommand::start() {
  if (const Result<> shown = show(); !shown) {
    fail(shown.error());
    return;
  }
  Q_EMIT done(wire::ExitCode::Ok);
}

Result<> DisasmCommand::show() const {
  SWAGE_TRY_ASSIGN(const std::filesystem::path project, existingProject());
  engine::RecordServiceImpl record;
  SWAGE_TRY(record.open(project));
  const domain::CandidateId id(m_arguments.candidate.number);
  SWAGE_TRY_ASSIGN(const services::CandidateDetail detail, record.candidate(id));
  if (detail.assembly.empty()) {
    const bool hasSource = !detail.program.source.empty();
    return Error(ErrorKind::InvalidInput,
                 hasSource ? fmt::format("candidate {} has no assembly: its status is '{}'", id.value(),
                                         domain::name(detail.row.status))
                           : fmt::format("candidate {} has no kernels: PyTorch's operators do everything", id.value()),
                 fmt::format("`swage show {}` says more", id.value()));
  }
  std::string listing = detail.assembly;
  if (!m_arguments.kernel.empty()) {
    listing = domain::functionListing(detail.assembly, m_arguments.kernel);
    if (listing.empty()) {
      std::vector<std::string> names;
      for (const std::string& name : domain::functionsOf(detail.assembly)) {
        names.push_back(domain::demangled(name));
      }
      return Error(ErrorKind::InvalidInput,
                   fmt::format("candidate {} has no kernel '{}'", id.value(), m_arguments.kernel),
                   fmt::format("it has {}", fmt::join(names, ", ")));
    }
  }
  const domain::ListingOptions options{.places = !m_arguments.noDirectives,
                                       .directives = !m_arguments.noDirectives,
                                       .addresses = !m_arguments.noAddresses,
                                       .demangle = true};
  const std::string text = domain::readableListing(listing, options).text;
  if (form() == OutputForm::Text) {
    print(text);
  } else {
    printJson({{"candidate", id.value()}, {"kernels", domain::functionsOf(listing)}, {"assembly", text}});
  }
  return {};
}

}  // namespace swage::cli
