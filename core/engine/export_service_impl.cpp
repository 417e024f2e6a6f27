// SPDX-License-Identifier: Apache-2.0
#include "core/engine/export_service_impl.h"

#include "core/engine/export_facts.h"
#include "core/engine/export_files.h"

namespace swage::engine {
namespace {

Result<store::Record> openRecord(const std::filesystem::path& project) {
  if (project.empty()) {
    return Error(ErrorKind::NotFound, "cannot export: no project is open", "open a project, or start a search");
  }
  return store::Record::open(project, store::Record::Mode::ReadOnly);
}

}  // namespace

ExportServiceImpl::~ExportServiceImpl() {
  m_answers.drop();
}

QFuture<Result<services::ExportFacts>> ExportServiceImpl::facts(const std::filesystem::path& project,
                                                                domain::CandidateId candidate) const {
  return m_answers.ask<services::ExportFacts>(
      [project, candidate](const AnswerThread::IsCancelled&) -> Result<services::ExportFacts> {
        SWAGE_TRY_ASSIGN(const store::Record record, openRecord(project));
        SWAGE_TRY_ASSIGN(const ExportEvidence evidence, readExportEvidence(record, candidate));
        return exportFacts(evidence);
      });
}

QFuture<Result<services::ExportFiles>> ExportServiceImpl::files(const std::filesystem::path& project,
                                                                domain::CandidateId candidate,
                                                                services::ExportFormat format) const {
  return m_answers.ask<services::ExportFiles>(
      [project, candidate, format](const AnswerThread::IsCancelled&) -> Result<services::ExportFiles> {
        SWAGE_TRY_ASSIGN(const store::Record record, openRecord(project));
        return makeExportFiles(record, candidate, format);
      });
}

QFuture<Result<>> ExportServiceImpl::write(const services::ExportFiles& files, const std::filesystem::path& target,
                                           services::ExistingFiles existing) const {
  return m_answers.ask<void>([files, target, existing](const AnswerThread::IsCancelled&) {
    return writeExportFiles(files, target, existing);
  });
}

}  // namespace swage::engine
