// SPDX-License-Identifier: Apache-2.0
#include "core/engine/swarm_service_impl.h"

#include <QFutureWatcher>

#include <fmt/format.h>

#include "core/base/files.h"
#include "core/models/wire_format.h"
#include "core/run/offer_event.h"
#include "core/run/recorded_swarm.h"

namespace swage::engine {
namespace {

using services::SwarmReport;
using services::SwarmSnapshot;
using services::Talk;

Result<store::Record> openForReading(const std::filesystem::path& project) {
  return store::Record::open(project, store::Record::Mode::ReadOnly);
}

Result<SwarmSnapshot> reportOf(const std::filesystem::path& project, domain::RunId run) {
  SWAGE_TRY_ASSIGN(const store::Record record, openForReading(project));
  SWAGE_TRY_ASSIGN(SwarmReport report, run::recordedSwarm(record, run));
  return SwarmSnapshot(std::make_shared<const SwarmReport>(std::move(report)));
}

Result<Talk> talkOf(const std::filesystem::path& project, domain::RunId run, domain::CandidateId candidate) {
  SWAGE_TRY_ASSIGN(const store::Record record, openForReading(project));
  SWAGE_TRY_ASSIGN(const std::optional<std::string> text, run::recordedConversation(record, run, candidate));
  if (!text) {
    return Error(ErrorKind::NotFound, fmt::format("no model made candidate {}", candidate.value()));
  }
  SWAGE_TRY_ASSIGN(const models::Conversation conversation, models::parseConversation(*text));
  return run::talkOf(conversation);
}

}  // namespace

SwarmServiceImpl::SwarmServiceImpl(RunServiceImpl& run, QObject* parent) : services::SwarmService(parent), m_run(run) {
  connect(&run, &RunServiceImpl::pairsChanged, this, &services::SwarmService::changed);
}

void SwarmServiceImpl::order(const services::PairOrder& order) {
  auto* watcher = new QFutureWatcher<Result<>>(this);
  connect(watcher, &QFutureWatcherBase::finished, this, [this, watcher] {
    watcher->deleteLater();
    if (watcher->future().resultCount() > 0) {
      if (const Result<> done = watcher->result(); !done) {
        Q_EMIT refused(done.error());
      }
    }
  });
  watcher->setFuture(m_run.follow(order));
}

QFuture<Result<services::ReplyCheck>> SwarmServiceImpl::checkReply(const std::string& text) {
  return m_run.checkReply(text);
}

Result<std::string> SwarmServiceImpl::promptText(const services::WaitingPrompt& prompt) const {
  return readTextFile(prompt.prompt, models::ReplyCollector::kMaxText);
}

// The folder may have been answered by somebody else meanwhile; the first answer counts.
Result<> SwarmServiceImpl::sendReply(const services::WaitingPrompt& prompt, const std::string& text) {
  std::error_code ignored;
  if (!std::filesystem::exists(prompt.prompt, ignored)) {
    return Error(ErrorKind::NotFound, "the prompt is not waiting for a reply any more");
  }
  return writeFileAtomically(prompt.reply, text);
}

QFuture<Result<SwarmSnapshot>> SwarmServiceImpl::recorded(const std::filesystem::path& project,
                                                          domain::RunId run) const {
  return m_thread.ask<SwarmSnapshot>([project, run](const auto&) { return reportOf(project, run); });
}

QFuture<Result<Talk>> SwarmServiceImpl::talk(const std::filesystem::path& project, domain::RunId run,
                                             domain::CandidateId candidate) const {
  return m_thread.ask<Talk>([project, run, candidate](const auto&) { return talkOf(project, run, candidate); });
}

}  // namespace swage::engine
