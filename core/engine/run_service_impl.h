// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QThread>

#include <functional>

#include "core/run/run_session.h"
#include "core/services/run_service.h"
#include "core/services/swarm_service.h"

namespace swage::engine {

// RunService for one thread, usually that of the window, with the session on a thread of its own: the database, the
// synthesiser and the search never hold up the caller's event loop. Destroying it kills a run in progress; its record
// stays whole and resumable.
class RunServiceImpl final : public services::RunService {
  Q_OBJECT

 public:
  // More proposers for each run, asked for when it starts, which may also add to what is asked of it: language models.
  using Enlist = std::function<Result<std::vector<run::ProposerFactory>>(services::RunSpec& spec)>;

  explicit RunServiceImpl(run::SessionParts parts, QObject* parent = nullptr);
  ~RunServiceImpl() override;

  void start(const services::RunSpec& spec) override;
  void pause() override;
  void resume() override;
  void stop() override;
  void kill() override;
  [[nodiscard]] services::RunState state() const override { return m_state; }
  [[nodiscard]] domain::RunId currentRun() const override { return m_run; }

  void setEnlist(Enlist enlist) { m_enlist = std::move(enlist); }
  // Of the session, asked on its thread; what is answered comes there.
  [[nodiscard]] QFuture<Result<>> follow(const services::PairOrder& order);
  [[nodiscard]] QFuture<Result<services::ReplyCheck>> checkReply(const std::string& text);

 Q_SIGNALS:
  void pairsChanged(const swage::services::SwarmSnapshot& report);

 private:
  void forward();
  void tellSession(void (run::RunSession::*what)());
  void failToStart(const Error& error);
  template <class T, class Ask>
  [[nodiscard]] QFuture<Result<T>> askSession(Ask ask);

  run::SessionParts m_parts;
  Enlist m_enlist;
  QThread m_thread;
  run::RunSession* m_session = nullptr;  // lives on m_thread, deleted there
  services::RunState m_state = services::RunState::Idle;
  domain::RunId m_run;
};

}  // namespace swage::engine
