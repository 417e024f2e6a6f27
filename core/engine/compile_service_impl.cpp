// SPDX-License-Identifier: Apache-2.0
#include "core/engine/compile_service_impl.h"

#include <utility>

#include <fmt/format.h>

#include "core/store/record.h"

namespace swage::engine {

CompileServiceImpl::CompileServiceImpl(Options options, QObject* parent)
    : services::CompileService(parent), m_options(std::move(options)) {
  m_patience.setSingleShot(true);
  m_patience.setInterval(m_options.patience);
  connect(&m_patience, &QTimer::timeout, this, [this] {
    abandonPool();
    submit();
  });
}

CompileServiceImpl::~CompileServiceImpl() {
  if (m_pool != nullptr) {
    m_pool->disconnect(this);
  }
}

CompileServiceImpl::Options CompileServiceImpl::standard(process::LaunchCommand compiler,
                                                         const std::filesystem::path& cacheFolder) {
  Options options;
  options.compiler = std::move(compiler);
  options.compiler.arguments.insert(options.compiler.arguments.end(),
                                    {"--header-cache", (cacheFolder / "headers").string()});
  return options;
}

std::uint64_t CompileServiceImpl::compile(const services::DraftSource& draft) {
  Result<domain::CompileRequest> request = requestFor(draft);
  if (request) {
    return compile(std::move(*request));
  }
  cancel();
  m_newest = ++m_last;
  QTimer::singleShot(0, this, [this, number = m_newest, error = request.error()] {
    if (number == m_newest) {
      m_newest = 0;
      Q_EMIT compiled(number, error);
    }
  });
  return m_newest;
}

std::uint64_t CompileServiceImpl::compile(domain::CompileRequest request) {
  m_newest = ++m_last;
  m_waiting = Job{m_newest, std::move(request)};
  if (m_given == 0) {
    submit();
  } else if (!m_patience.isActive()) {
    m_patience.start();
  }
  return m_newest;
}

void CompileServiceImpl::cancel() {
  m_waiting.reset();
  m_newest = 0;
}

Result<domain::CompileRequest> CompileServiceImpl::requestFor(const services::DraftSource& draft) {
  if (draft.project != m_known.project || draft.parent != m_known.parent) {
    SWAGE_TRY_ASSIGN(const store::Record record, store::Record::open(draft.project, store::Record::Mode::ReadOnly));
    SWAGE_TRY_ASSIGN(const store::CandidateRecord candidate, record.candidate(draft.parent));
    SWAGE_TRY_ASSIGN(const store::RunRow run, record.run(candidate.run));
    m_knownRequest = domain::compileRequest(candidate.program, run.device);
    m_known = {.project = draft.project, .parent = draft.parent, .source = {}};
  }
  domain::CompileRequest request = m_knownRequest;
  request.source = draft.source;
  return request;
}

void CompileServiceImpl::submit() {
  m_patience.stop();
  if (!m_waiting) {
    return;
  }
  Job job = *std::exchange(m_waiting, std::nullopt);
  openPool();
  m_given = job.number;
  m_pool->compile(job.number, std::move(job.request));
}

void CompileServiceImpl::openPool() {
  if (m_pool != nullptr) {
    return;
  }
  process::CompilerPool::Options options;
  options.command = m_options.compiler;
  options.size = 1;
  options.limitSeconds = m_options.limitSeconds;
  m_pool = new process::CompilerPool(std::move(options), this);
  connect(m_pool, &process::CompilerPool::compiled, this, &CompileServiceImpl::handleCompiled);
  connect(m_pool, &process::CompilerPool::failed, this, &CompileServiceImpl::handleFailed);
}

// It goes when its process has ended.
void CompileServiceImpl::abandonPool() {
  if (process::CompilerPool* pool = std::exchange(m_pool, nullptr)) {
    pool->disconnect(this);
    connect(pool, &process::CompilerPool::stopped, pool, &QObject::deleteLater);
    pool->kill();
  }
  m_given = 0;
}

void CompileServiceImpl::handleCompiled(std::uint64_t number, const domain::CompileOutcome& outcome) {
  m_given = 0;
  if (number != m_newest) {
    submit();
    return;
  }
  m_newest = 0;
  const domain::CompileOutcome result = outcome;
  Q_EMIT compiled(number, result);
}

// Of the surroundings: the next draft tries them again.
void CompileServiceImpl::handleFailed(const Error& error) {
  const Error why = error;
  abandonPool();
  m_patience.stop();
  m_waiting.reset();
  if (const std::uint64_t number = std::exchange(m_newest, 0); number != 0) {
    Q_EMIT compiled(number, why);
  }
}

}  // namespace swage::engine
