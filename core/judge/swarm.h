// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/domain/advice.h"
#include "core/domain/advice_experience.h"
#include "core/domain/device_info.h"
#include "core/judge/judge.h"
#include "core/judge/rules.h"
#include "core/search/guidance.h"
#include "core/search/proposal.h"
#include "core/stats/roofline.h"

namespace swage::judge {

struct SwarmOptions {
  int pairs = 32;  // of coder and judge; island i has every fourth of them, beginning with i, where there are four
  int islands = 4;
  std::uint64_t seed = 1;
  domain::DeviceInfo device{};
  stats::Roofline task{};
  domain::ScalarType type = domain::ScalarType::Float32;
};

// An advice that a pair has taken up, or that was given to a language model.
struct GivenAdvice {
  int pair = 0;                  // -1: a model
  Role role = Role::Parameters;  // of the rule's
  domain::CandidateId about;
  domain::Advice advice;
  std::string model{};  // its name; empty: a pair
};

// What came of following an advice once.
struct ScoredAdvice {
  int pair = 0;
  Role role = Role::Parameters;
  std::string rule;
  domain::AdvicePass pass = domain::AdvicePass::Optimisation;
  domain::CandidateId about;
  domain::CandidateId candidate;       // that was made of it
  std::optional<double> expectedGain;  // as the advice said
  double achievedGain = 0.0;           // time of `about` over that of `candidate`; 0: it is not correct
  double reward = 0.0;                 // 0 to 1: how far it is ahead of all before it
  double seconds = 0.0;                // that compilers and workers had with it; 0: not known
  std::string model{};                 // that followed it; empty: a pair
};

// Whether it made a candidate faster, or right, that was not.
[[nodiscard]] bool hasPaid(const ScoredAdvice& scored);

// A candidate that was made by an advice, and what it is compared with. Speedups are over eager; 0: not correct.
struct AdviceResult {
  domain::CandidateId candidate;
  double speedup = 0.0;
  double before = 0.0;  // of what the advice is about
  double best = 0.0;    // of all before it
  bool counts = true;   // it was timed to the end
  double seconds = 0.0;
};
[[nodiscard]] ScoredAdvice scoreOf(const GivenAdvice& given, const AdviceResult& result);

// How a pair stands.
struct PairState {
  int pair = 0;
  int island = 0;
  Role role = Role::Parameters;
  domain::AdvicePass pass = domain::AdvicePass::Optimisation;
  domain::CandidateId about;  // what it works at; invalid: nothing
  std::string rule;           // of the advice that is next; empty: none
  int followed = 0;           // advice, over the run
  int paid = 0;               // that made a candidate faster than what it was made of
  double quality = 0.5;       // what it earned lately, 0 to 1
  bool isPaused = false;      // by a person: it guides nothing
  bool isRoleGiven = false;   // by a person: it keeps its role
};

// What happened at the end of one candidate.
struct SwarmNews {
  std::vector<GivenAdvice> given;
  std::optional<ScoredAdvice> scored;
};

// The end of a candidate as pairs see it. Borrows what `what` borrows.
struct SwarmEnd {
  search::ProposalId proposal;  // invalid: nobody here made it
  const domain::Genome* genome = nullptr;
  int island = 0;
  Case what;
  search::Outcome outcome;
  double trialSeconds = 0.0;  // that compilers and workers had with it
};

// Pairs of a coder and a judge over one search. A pair belongs to an island and has a role, whose rules its judge goes
// by. It works at one candidate: in optimisation passes at a fast one of its island, by the advice with the largest
// gain that it can expect of it, each advice kFollows times at most; when what it made fails, in functional passes at
// that, kRepairs times at most. Its coder is the searcher, which changes the candidate by the weights of the rule
// (search::Guidance). What came of it is the credit of rule, pair and role:
//   q <- q + a (r - q)    r = min(1, ln(speedup / best speedup before) / 0.1), 0 where it is not better; a = 0.1
// An advice is worth ln(expected gain) q(rule). A pair that earns less than half of what pairs earn on average, over
// kReview advices, takes the role that earns most; each role keeps a pair. How many proposals are guided follows from
// the credit of those that were and those that were not, between kLeast and kMost: a judge that misleads costs little.
//
// Pure and single-threaded: the same seed and the same ends in the same order give the same turns.
class Swarm {
 public:
  static constexpr int kFollows = 3;
  static constexpr int kRepairs = 2;
  static constexpr int kReview = 12;
  static constexpr double kLeast = 0.05;
  static constexpr double kMost = 0.5;

  // `rules` outlives this.
  Swarm(const RuleBook& rules, SwarmOptions options);

  // Whose turn is next, and what it wants; without guidance the search goes its own way.
  struct Turn {
    int pair = 0;
    std::optional<search::Guidance> guidance;
    std::optional<GivenAdvice> advice;  // that the guidance follows
    double speedup = 0.0;               // over eager, of what it is about; 0: that is not correct
  };
  [[nodiscard]] Turn next();
  // The searcher made this of it.
  void proposed(const Turn& turn, const search::Proposal& proposal);
  // Any candidate of the run has ended, in their order.
  [[nodiscard]] SwarmNews ended(const SwarmEnd& end);
  // One that has ended before has a profile now, which is in `end.what`; its proposal and its time do not count. Pairs
  // that work at it go on with what is said of it now, and others of its island may take up what only the profile
  // tells.
  [[nodiscard]] SwarmNews profiled(const SwarmEnd& end);
  // For a model, which can follow every rule: the one advice that promises most by what its rule has earned, kFollows
  // times at most while there is another one; of a candidate that is not right, the one about its first mistake. No
  // value: no rule speaks.
  [[nodiscard]] std::optional<GivenAdvice> adviceFor(const Case& what, domain::CandidateId about);
  // An earlier sitting's, out of the record, or a model's: its credit counts.
  void restore(const ScoredAdvice& scored);
  // Of earlier runs on such a device: with what credit rules and roles begin. Before the first turn.
  void learn(const std::vector<domain::AdviceExperience>& earlier);

  // By a person. A paused pair gets no turns; its place is taken by the others, or by the search. A pair with a new
  // role begins anew, and keeps that role. False: there is no such pair.
  bool setPaused(int pair, bool isPaused);
  bool setRole(int pair, Role role);

  [[nodiscard]] std::vector<PairState> pairs() const;
  // Of proposals, now.
  [[nodiscard]] double guidedShare() const;
  // By rule, of those that were followed.
  [[nodiscard]] const std::map<std::string, double>& ruleCredit() const { return m_ruleCredit; }

 private:
  // What a pair works at, with the advice that is left.
  struct Subject {
    domain::CandidateId candidate;
    domain::Genome genome;
    double speedup = 0.0;  // over eager; 0: it is not correct
    std::vector<domain::Advice> advice;
    int follows = 0;  // of the first one
  };
  struct Pair {
    PairState state;
    std::optional<Subject> subject;
    std::optional<Subject> repair;
    int sinceReview = 0;
    [[nodiscard]] const Subject* current() const { return repair ? &*repair : subject ? &*subject : nullptr; }
  };
  struct Pending {
    int pair = 0;
    bool isGuided = false;
    double speedup = 0.0;  // of what it was made of
    GivenAdvice advice;
  };

  [[nodiscard]] search::Guidance guidanceOf(const Pair& pair, const Subject& subject) const;
  void useUp(Pair& pair);
  [[nodiscard]] double worth(const domain::Advice& advice) const;
  void credit(const ScoredAdvice& scored);
  void review(Pair& pair);
  void take(Pair& pair, Role role);
  void takeUp(const SwarmEnd& end, const std::optional<Pending>& pending, SwarmNews& news);
  [[nodiscard]] bool isFast(int island, double speedup) const;
  void offerTo(Pair& pair, const SwarmEnd& end, const std::vector<domain::Advice>& advice, SwarmNews& news);
  // `said`: all that is said of what it works at; of that `found` is new.
  void renew(Pair& pair, const std::vector<domain::Advice>& said, const std::vector<domain::Advice>& found,
             SwarmNews& news);
  // In which a pair follows them.
  [[nodiscard]] std::vector<domain::Advice> inOrderOf(const Pair& pair,
                                                      const std::vector<domain::Advice>& advice) const;
  [[nodiscard]] std::vector<domain::Advice> forRole(const std::vector<domain::Advice>& advice, Role role) const;

  const RuleBook& m_rules;
  SwarmOptions m_options;
  std::vector<Pair> m_pairs;
  std::map<search::ProposalId, Pending> m_pending;
  std::map<std::string, double> m_ruleCredit;
  std::map<Role, double> m_roleCredit;
  std::map<std::pair<domain::CandidateId, std::string>, int> m_named;  // to models, by rule
  std::map<int, double> m_bestOfIsland;
  double m_best = 0.0;
  // Rewards and proposals of one kind, which fade slowly. Not a running mean from 0.5: that of the rarer kind would
  // stay high for longer.
  struct Earnings {
    double rewards = 0.0;
    double proposals = 0.0;
    void add(double reward);
    [[nodiscard]] double mean() const;
  };
  Earnings m_guided;
  Earnings m_own;
  std::uint64_t m_turn = 0;
};

}  // namespace swage::judge
