// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>
#include <QTimer>

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/monotonic_now.h"
#include "core/base/result.h"
#include "core/run/proposer.h"
#include "core/search/proposer_credit.h"

namespace swage::run {

// The proposers of a run. next() asks whose turn it is: turns are given out evenly by share (search::ProposerCredits),
// those that owe an answer or have nothing are left out meanwhile, so that the others go on at full pace. What nobody
// asked for, or poses as somebody else's, is not taken. Whoever lets kMisses answers in a row become overdue, throws,
// or fails is asked no more. Nor is whoever costs something, once another answer could go beyond the budget, of which
// every answer that is owed has its part. Where the last one is a language model that cannot be asked any more, nothing
// has failed here: nobody has anything, and trouble() says why. One thread only.
class ProposerPool : public QObject {
  Q_OBJECT

 public:
  static constexpr int kMisses = 3;

  enum class Turns : std::uint8_t { Some, None };  // None: it only hears and observes

  struct Options {
    MonotonicNow now = [] { return std::chrono::steady_clock::now(); };
    std::function<bool(const store::CandidateRecord&)> isElite{};  // empty: nobody is
    search::Cost budget{};  // cents and tokens of all together, over all sittings; 0: no limit
  };

  explicit ProposerPool(Options options, QObject* parent = nullptr);
  ~ProposerPool() override;

  // The first one keeps the archive: it hears of everything before the others. Fails when the name is taken.
  [[nodiscard]] Result<> add(std::unique_ptr<Proposer> proposer, Turns turns = Turns::Some);

  struct Taken {
    domain::ProposerName proposer;
    Offer offer;
  };
  // The offer that came first, else that of whoever answers at once. No value: nobody has one now.
  [[nodiscard]] std::optional<Taken> next();
  // Somebody owes an answer that is worth waiting for, or will have something after a rest.
  [[nodiscard]] bool isWaiting() const;
  // Somebody takes turns and has not been dropped.
  [[nodiscard]] bool isAnybodyLeft() const;
  // Why there is nothing to try: each that takes turns has been dropped, or failed in its last attempt. Of kind
  // BudgetExhausted where that is the reason for all of them, else ModelUnavailable. No value: somebody is well.
  [[nodiscard]] std::optional<Error> trouble() const;

  // An offer of `proposer` has ended: it hears, the others observe.
  void tell(const domain::ProposerName& proposer, const CandidateEnd& end);
  // A candidate of an earlier sitting, or of nobody here: all observe.
  void show(const CandidateEnd& end);
  // What was spent on offers of an earlier sitting.
  void addCost(const domain::ProposerName& proposer, const search::Cost& cost);

  // By a person: it gets no turns until it is released, and nothing is spent on it meanwhile. A run whose others have
  // nothing left waits for it. False: there is none of that name that takes turns.
  bool hold(const domain::ProposerName& name, bool isHeld);
  [[nodiscard]] bool isHeld(const domain::ProposerName& name) const;

  void pause();
  void resume();
  void stop();

  [[nodiscard]] const search::ProposerCredits& credits() const { return m_credits; }

 Q_SIGNALS:
  // next() may have something again, or isWaiting() has changed.
  void ready();
  // What no candidate comes of: of a proposer by itself, and with offers that nobody takes any more. It counts already.
  void spent(const swage::domain::ProposerName& proposer, const swage::search::Cost& cost,
             const std::string& conversation);
  // The run goes on without it.
  void dropped(const swage::domain::ProposerName& proposer, const swage::Error& why);
  // Nobody is left to ask, and this was the last one's error, of another kind than those of trouble().
  void failed(const swage::Error& error);

 private:
  enum class State : std::uint8_t {
    Active,
    Silent,  // not asked, but an answer brings it back
    Done,    // passed for good; still hears
    Dropped
  };
  struct Entry {
    std::unique_ptr<Proposer> proposer;
    Turns turns = Turns::Some;
    State state = State::Active;
    std::deque<std::chrono::steady_clock::time_point> asked{};  // the answers it owes, oldest first
    int late = 0;                                               // answers that are not waited for any more
    int misses = 0;                                             // in a row
    bool hasNothing = false;                                    // until there are news
    bool isHeld = false;                                        // by a person
    std::optional<Error> why{};                                 // it is not asked any more
    double pass = 0.0;                                          // of stride scheduling
    search::Cost dearest{};                                     // the most of each that one answer cost
  };

  void connectTo(Entry& entry);
  [[nodiscard]] bool mayAsk(const Entry& entry) const;
  [[nodiscard]] bool isAffordable(const Entry& entry) const;
  void leaveOutTheUnaffordable();
  [[nodiscard]] Entry* nextInTurn();
  void ask(Entry& entry);
  // Whether an answer was due.
  [[nodiscard]] bool settleAnswer(Entry& entry);
  void handleOffer(Entry& entry, const Offer& offer);
  void handleSpent(const Entry& entry, const search::Cost& cost, const std::string& conversation);
  void tellSpent(const domain::ProposerName& proposer, const search::Cost& cost, const std::string& conversation);
  void handlePass(Entry& entry, Proposer::Pass until);
  void handleAwoke(Entry& entry);
  void checkDeadlines();
  void drop(Entry& entry, const Error& why);
  // Runs what is a proposer's own; what it throws costs it its place.
  template <class Call>
  void guarded(Entry& entry, Call&& call);
  void each(void (Proposer::*what)());
  void announce();
  void spread(const Entry* owner, const CandidateEnd& end);
  [[nodiscard]] Entry* find(const std::function<bool(const Proposer&)>& isMeant) const;

  Options m_options;
  std::vector<std::unique_ptr<Entry>> m_entries;  // in the order in which they were added; none leaves before the end
  std::deque<Taken> m_inbox;
  search::ProposerCredits m_credits;
  QTimer m_deadlines{this};
  double m_virtualTime = 0.0;  // the pass of whoever was asked last
  bool m_asking = false;       // within next(), which sees by itself who answers
  bool m_paused = false;
  bool m_stopped = false;
};

}  // namespace swage::run
