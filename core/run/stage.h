// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>

#include <string>
#include <utility>

#include "core/base/result.h"
#include "core/run/run_context.h"
#include "core/services/types.h"

namespace swage::run {

// One stage of a run. Takes what it needs from the context and leaves there what it has found. One thread only; nothing
// waits.
class Stage : public QObject {
  Q_OBJECT

 public:
  enum class Stop : std::uint8_t {
    AtOnce,      // nothing here is worth waiting for: cancel it
    Interrupts,  // finished() comes soon, and the run was interrupted
    Completes    // finished() comes soon, and the run has all that it was to have
  };

  // `context` outlives the stage.
  explicit Stage(RunContext& context) : m_context(context) {}

  // Whether there is anything to do; asked when it is its turn.
  [[nodiscard]] virtual bool isNeeded() const { return true; }
  // One finished() follows, now or later, unless cancel() comes before.
  virtual void start() = 0;
  // A person wants the run to end.
  virtual Stop stop() { return Stop::AtOnce; }
  // Ends everything, also when it has finished or never begun. A finished() that still comes means nothing; gone()
  // follows where isGone() says that something is left.
  virtual void cancel() {}
  virtual void kill() { cancel(); }
  // Nothing that it started runs.
  [[nodiscard]] virtual bool isGone() const { return true; }

 Q_SIGNALS:
  void finished(const swage::Result<>& done);
  void gone();
  void stateChanged(swage::services::RunState state);
  void doing(const std::string& what);
  void noticed(const swage::services::Notice& notice);
  // With the numbers of the record.
  void evaluated(const swage::store::CandidateRecord& candidate);

 protected:
  void notice(services::Notice::Severity severity, std::string text, std::string hint = {}) {
    Q_EMIT noticed({.severity = severity, .text = std::move(text), .hint = std::move(hint)});
  }
  // What a stage has found; a failure is its own.
  void finish(const Result<>& done = {}) { Q_EMIT finished(done); }

  RunContext& m_context;
};

}  // namespace swage::run
