// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/domain/candidate.h"
#include "core/domain/compilation.h"
#include "core/domain/device_info.h"
#include "core/domain/evaluation.h"
#include "core/domain/task.h"
#include "core/judge/swarm.h"
#include "core/models/prompt.h"
#include "core/search/proposer_credit.h"
#include "core/store/record.h"

namespace swage::run {

// A program that is to be tried, and how it came about.
struct Offer {
  std::int64_t number = -1;  // by which its proposer knows it again, also in a later sitting; -1: it does not
  domain::ProposerName madeBy = domain::OperatorKind::Synthesis;
  domain::Program program;
  std::optional<domain::Genome> genome{};  // that gives this program; none: the search cannot vary it
  std::vector<domain::CandidateId> parents{};
  int island = 0;
  std::string note{};  // how it was thought of, for whoever reads the record
  search::Cost cost{};
  std::string conversation{};  // with a model, as JSON (models::conversationJson()); kept beside the candidate
  // It could not be written, and this is how it ended; its program counts for nothing. No value: it is to be tried.
  std::optional<domain::Evaluation> unwritten{};
  // What the compiler said of the program, where whoever offers it has had it compiled for the run's device already.
  std::optional<domain::CompileOutcome> compiled{};
};

// The end of a candidate. Its record has the evaluation with what the compiler said, the first wrong element or the
// times; its profile, once there is one, is store::Record::profile() of its id.
struct CandidateEnd {
  const store::CandidateRecord& candidate;
  store::StageSeconds stages{};
  bool isElite = false;  // of its cell on its island, right now
};

// Whoever makes programs for a run: the search, a person, a language model, a library. It is asked for one program at
// a time, answers whenever it can, and hears what became of each. It never holds up a run: another one is asked
// meanwhile, and an answer is waited for only as long as patience() says (ProposerPool). All calls and signals on one
// thread; no call may wait. Destroying it ends whatever it has started.
class Proposer : public QObject {
  Q_OBJECT

 public:
  enum class Pass : std::uint8_t {
    UntilNews,  // nothing now: ask again after the next end, or after awoke()
    ForGood
  };

  explicit Proposer(domain::ProposerName name, QObject* parent = nullptr) : QObject(parent), m_name(std::move(name)) {}

  // Unlike that of any other proposer of the run.
  [[nodiscard]] const domain::ProposerName& name() const { return m_name; }
  // Whether a candidate that says so is one of its own.
  [[nodiscard]] virtual bool makes(const domain::ProposerName& madeBy) const { return madeBy == m_name; }
  // How many answers it may owe.
  [[nodiscard]] virtual int width() const { return 1; }
  // From the question to its answer. Nobody waits longer; what comes later is taken all the same.
  [[nodiscard]] virtual std::chrono::milliseconds patience() const { return std::chrono::minutes(2); }

  // It has passed for now, and says awoke() by itself: a run in which nobody else has anything waits for that.
  [[nodiscard]] virtual bool isResting() const { return false; }
  // Why its last attempt to make a program failed. No value: it did not.
  [[nodiscard]] virtual std::optional<Error> trouble() const { return std::nullopt; }

  // The most that one answer may cost; where it is not known before, what its dearest answer did cost counts. Only who
  // keeps to it keeps the run within its budget.
  [[nodiscard]] virtual search::Cost mostCost() const { return {}; }

  // One program is wanted. Answered by one offered() or one passed(), from within or later.
  virtual void ask() = 0;
  // Each of its offers ends once, unless the run ends before.
  virtual void hear(const CandidateEnd&) {}
  // What others made, and what anybody made in an earlier sitting. The search has heard of it before the others do.
  virtual void observe(const CandidateEnd&) {}
  // What earlier sittings of the run spent on it.
  virtual void takeUp(const search::Cost&) {}
  // Nothing is asked until resume(); it should spend nothing meanwhile.
  virtual void pause() {}
  virtual void resume() {}
  // The search is over: nothing that it offers is taken any more.
  virtual void stop() {}

 Q_SIGNALS:
  void offered(const swage::run::Offer& offer);
  void passed(swage::run::Proposer::Pass until);
  // It has spent something that no offer comes of. `conversation`: as of an offer.
  void spent(const swage::search::Cost& cost, const std::string& conversation);
  // After passed(UntilNews): it has something.
  void awoke();
  // It can do nothing more. The run goes on without it, if there is anybody else.
  void failed(const swage::Error& error);

 private:
  domain::ProposerName m_name;
};

// What a judge names about a candidate: one thing to change. No value: nothing.
using AdviceFor = std::function<std::optional<judge::GivenAdvice>(domain::CandidateId)>;
// What is known of the kernels of a candidate.
using KernelNumbersFor = std::function<std::vector<models::KernelNumbers>(domain::CandidateId)>;

// What a proposer is made for.
struct ProposerContext {
  const domain::Task& task;
  const domain::DeviceInfo& device;
  domain::RunId run;
  std::uint64_t seed = 1;
  std::filesystem::path source{};  // of the task, in Python
  AdviceFor adviceFor{};           // empty: the run has no judge
  KernelNumbersFor numbersFor{};   // empty: nobody knows
};
using ProposerFactory = std::function<std::unique_ptr<Proposer>(const ProposerContext&)>;

}  // namespace swage::run
