// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QTimer>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/models/answer.h"
#include "core/models/call_budget.h"
#include "core/models/chat_provider.h"
#include "core/models/conversation.h"
#include "core/models/endpoint.h"
#include "core/models/key_ring.h"
#include "core/models/prompt.h"
#include "core/run/proposer.h"
#include "core/services/swarm_service.h"

namespace swage::run {

// A language model as a proposer. It alternates: while a program of its own has failed, the model is told how, and
// mends it (a functional pass); else it gets one of the best programs so far and is asked for a faster one (an
// optimisation pass). Each question is answered by an offer: a program; or, where the answer cannot be read even after
// it was asked for once more, a rejection. What an endpoint says is data: nothing of it is run or looked up.
class ModelProposer final : public Proposer {
  Q_OBJECT

 public:
  struct Options {
    std::string endpoint;  // its name, for the record
    int repairs = 2;       // of one program
    std::size_t parents = 6;
    int maxTokens = 8192;  // of a reply
    AdviceFor adviceFor{};
    KernelNumbersFor numbersFor{};
    models::PatternsFor patternsFor{};                         // empty: nothing is looked up
    models::RelativeFor relativeFor{};                         // empty: likewise
    std::shared_ptr<models::CallBudget> budget{};              // of the provider; null: none
    std::chrono::milliseconds rest = std::chrono::seconds(5);  // before it is asked again after a failure
  };

  ModelProposer(domain::ProposerName name, const ProposerContext& context,
                std::unique_ptr<models::ChatProvider> provider, Options options, QObject* parent = nullptr);

  [[nodiscard]] int width() const override { return m_provider->width(); }
  [[nodiscard]] std::chrono::milliseconds patience() const override;
  [[nodiscard]] bool isResting() const override { return m_rest.isActive(); }
  [[nodiscard]] std::optional<Error> trouble() const override { return m_fatal ? m_fatal : m_trouble; }
  void ask() override;
  void hear(const CandidateEnd& end) override;
  void observe(const CandidateEnd& end) override;
  void takeUp(const search::Cost& earlier) override;
  void pause() override;
  void resume() override;
  void stop() override;

  // A sentence of the person who runs the search, for the next prompt. At most kMostWords bytes of it count.
  void say(std::string_view words);
  static constexpr std::size_t kMostWords = 2000;
  // What say() was told and no prompt has had yet; one sentence to a line.
  [[nodiscard]] std::string waitingWords() const;
  // In a few words, for a person: "waits for 2 replies".
  [[nodiscard]] std::string doing() const;
  // What it works at: the parent, or the program that it mends; invalid: nothing.
  [[nodiscard]] domain::CandidateId about() const;
  [[nodiscard]] bool isMending() const;
  // Prompts that a person has to answer, in the exchange folder.
  [[nodiscard]] std::vector<services::WaitingPrompt> waitingPrompts() const;

 Q_SIGNALS:
  // A call has ended, well or badly.
  void called(const swage::models::ChatOutcome& outcome);
  // An advice is in a prompt for the first time, or something that was made by one has ended.
  void advised(const swage::judge::SwarmNews& news);
  // What was said about a candidate, which has ended.
  void talked(const swage::services::TalkSummary& talk);

 private:
  // One program and what is said about it.
  struct Thread {
    models::ChatRequest request;
    models::Conversation conversation;
    search::Cost cost;
    std::vector<domain::CandidateId> parents;
    std::optional<judge::GivenAdvice> advice;  // that the program is to follow
    double speedup = 0.0;                      // over eager, of what that is about; 0: it is not correct
    int island = 0;
    int repairs = 0;          // left
    bool askedAgain = false;  // for an answer that can be read
  };
  struct Parent {
    domain::CandidateId id;
    domain::Program program;
    domain::Speedup speedup;  // over eager
    double timeNs = 0.0;
    int island = 0;
  };

  [[nodiscard]] Thread newThread();
  [[nodiscard]] const Parent* chooseParent();
  void send(Thread thread);
  void handleEnded(std::uint64_t call, const models::ChatOutcome& outcome);
  void handleReply(Thread thread, const models::ChatReply& reply);
  void handleFailure(Thread thread, const models::ChatFailure& failure);
  void offer(Thread thread, models::Answer answer);
  void offerRejection(Thread thread, const Error& why);
  [[nodiscard]] Offer offerOf(Thread& thread);
  // That no offer comes of these calls.
  void tellSpent(const Thread& thread);
  void giveUpWhenQuiet();
  void keepParent(const store::CandidateRecord& candidate);
  void keepFailure(const std::string& line);
  [[nodiscard]] std::optional<judge::GivenAdvice> adviceFor(domain::CandidateId id);
  void scoreAdvice(const Thread& thread, const CandidateEnd& end);
  void tellTalk(const store::CandidateRecord& candidate);
  void queueRepair(Thread thread, const store::CandidateRecord& candidate);

  domain::Task m_task;
  domain::DeviceInfo m_device;
  domain::Language m_language;
  std::string m_source;
  std::unique_ptr<models::ChatProvider> m_provider;
  Options m_options;
  Random m_random;
  std::map<std::uint64_t, Thread> m_calls;                        // out
  std::map<std::int64_t, Thread> m_offered;                       // by the number of the offer, until its end
  std::deque<Thread> m_repairs;                                   // to be mended
  std::deque<Thread> m_held;                                      // until resume()
  std::map<std::int64_t, services::TalkSummary> m_talks;          // by the number of the offer, until its end
  std::vector<std::string> m_words;                               // of a person, for the next prompt
  std::vector<Parent> m_parents;                                  // best first
  std::set<std::pair<domain::CandidateId, std::string>> m_given;  // rules, with what they spoke of
  std::deque<std::string> m_failures;                             // one line each, newest last
  std::optional<Error> m_trouble;                                 // of the last call that has ended; none: it went well
  std::optional<Error> m_fatal;
  QTimer m_rest;
  std::int64_t m_next = 1;
  int m_failedInARow = 0;
  bool m_paused = false;
  bool m_stopped = false;
};

// Which models take part in a run, and what they may spend together.
struct ModelUse {
  std::vector<models::Endpoint> endpoints;
  std::shared_ptr<const models::KeyRing> keys;
  models::CallBudget::Limits limits{};
  AdviceFor adviceFor{};  // instead of the run's judge
  models::PatternsFor patternsFor{};
  models::RelativeFor relativeFor{};
  std::chrono::milliseconds rest = std::chrono::seconds(5);  // as ModelProposer::Options has it
};
// One for each endpoint. Fails where a recording cannot be read, or a name is none.
[[nodiscard]] Result<std::vector<ProposerFactory>> modelProposers(const ModelUse& use);

}  // namespace swage::run
