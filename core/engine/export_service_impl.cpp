// SPDX-License-Identifier: Apache-2.0
#include "core/engine/export_service_impl.h"

#include <QPromise>

#include <memory>
#include <utility>

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

ExportServiceImpl::ExportServiceImpl() {
  m_thread.setMaxThreadCount(1);
}

ExportServiceImpl::~ExportServiceImpl() {
  m_thread.clear();
  m_thread.waitForDone();
}

// A question that is dropped leaves its promise unfinished, which ends the future as cancelled.
template <class T, class Work>
QFuture<Result<T>> ExportServiceImpl::later(Work work) const {
  auto promise = std::make_shared<QPromise<Result<T>>>();
  QFuture<Result<T>> future = promise->future();
  promise->start();
  m_thread.start([promise = std::move(promise), work = std::move(work)] {
    if (!promise->isCanceled()) {
      promise->addResult(work());
    }
    promise->finish();
  });
  return future;
}

QFuture<Result<services::ExportFacts>> ExportServiceImpl::facts(const std::filesystem::path& project,
                                                                domain::CandidateId candidate) const {
  return later<services::ExportFacts>([project, candidate]() -> Result<services::ExportFacts> {
    SWAGE_TRY_ASSIGN(const store::Record record, openRecord(project));
    SWAGE_TRY_ASSIGN(const ExportEvidence evidence, readExportEvidence(record, candidate));
    return exportFacts(evidence);
  });
}

QFuture<Result<services::ExportFiles>> ExportServiceImpl::files(const std::filesystem::path& project,
                                                                domain::CandidateId candidate,
                                                                services::ExportFormat format) const {
  return later<services::ExportFiles>([project, candidate, format]() -> Result<services::ExportFiles> {
    SWAGE_TRY_ASSIGN(const store::Record record, openRecord(project));
    return makeExportFiles(record, candidate, format);
  });
}

QFuture<Result<>> ExportServiceImpl::write(const services::ExportFiles& files, const std::filesystem::path& target,
                                           services::ExistingFiles existing) const {
  return later<void>([files, target, existing] { return writeExportFiles(files, target, existing); });
}

}  // namespace swage::engine
