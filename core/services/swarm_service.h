// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QFuture>
#include <QObject>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/domain/candidate.h"

// The pairs of a coder and a judge of one run: what they do, what they were advised, what models were asked and what
// that cost. Values, and what a person can say to a pair.
namespace swage::services {

// An advice that a pair took up, or that a model was given, and what has come of it so far.
struct AdviceStanding {
  std::int64_t number = 0;  // in the order in which they were taken up, from 1
  int pair = -1;            // -1: a model
  std::string role;         // of the pair, or of the rule
  std::string rule;
  bool isFunctional = false;  // about what is wrong, not about what costs time
  domain::CandidateId about;
  std::string bottleneck;
  std::string method;
  std::string plan;
  std::string kernel;                  // empty: the whole candidate
  std::optional<double> expectedGain;  // time before over time after
  int followed = 0;                    // candidates that were made of it
  std::optional<double> achievedGain;  // of the best of those; 0: none is right; no value: none has ended
  domain::CandidateId candidate;       // that one
  std::string model{};                 // empty: a pair
};

// Whoever makes candidates by advice. The built-in pairs are numbered, and the search is their coder; a language model
// is a pair of its own, by its name.
struct PairStanding {
  int pair = -1;             // -1: a model
  std::string model;         // empty: a built-in pair
  int island = -1;           // -1: all of them
  std::string role;          // "memory"; empty: a model has none
  bool isRoleGiven = false;  // by a person
  bool isFunctional = false;
  bool isPaused = false;  // by a person
  domain::CandidateId about;
  std::string doing;  // "follows wide_access", "waits for 2 replies"
  std::int64_t offers = 0;
  std::int64_t correct = 0;
  std::int64_t elites = 0;   // cells that what it made holds now
  double gainPercent = 0.0;  // by how much its candidates were faster than what they were made of, all together
  double seconds = 0.0;      // that making and trying them took
  double cents = 0.0;
  std::int64_t tokens = 0;
  std::optional<AdviceStanding> last;  // that it followed, or has taken up, or was given
  std::string waitingWords;            // of a person, for its next prompt

  // Negative: it spent nothing of the kind.
  [[nodiscard]] double gainPerSecond() const { return seconds > 0.0 ? gainPercent / seconds : -1.0; }
  [[nodiscard]] double gainPerCent() const { return cents > 0.0 ? gainPercent / cents : -1.0; }
  [[nodiscard]] bool canListen() const { return !model.empty(); }
};

// What was said with a model about one candidate, without the words.
struct TalkSummary {
  domain::CandidateId candidate;
  std::string model;
  std::string intent;  // the model's own words
  std::string result;  // "correct", "wrong"; empty: not evaluated yet
  int calls = 0;
  std::int64_t inputTokens = 0;
  std::int64_t outputTokens = 0;
  double cents = 0.0;
  bool isPriceKnown = true;
  double seconds = 0.0;
};

// With the words: prompts and replies in turns.
struct Talk {
  struct Turn {
    enum class Who : std::uint8_t { Rules, Question, Reply, Failure };
    Who who = Who::Question;
    std::string text;
  };
  std::string model;
  std::string promptsHash;  // of the templates
  std::vector<Turn> turns;
};

// What calls of one model took.
struct ModelSpending {
  std::string model;
  std::int64_t calls = 0;
  std::int64_t failed = 0;
  std::int64_t inputTokens = 0;
  std::int64_t outputTokens = 0;
  double cents = 0.0;
  bool isPriceKnown = true;
  double seconds = 0.0;  // all calls together
  double longestSeconds = 0.0;
};

// A prompt of the exchange folder that nobody has answered.
struct WaitingPrompt {
  std::string model;
  std::filesystem::path prompt;
  std::filesystem::path reply;  // where the answer belongs
  friend bool operator==(const WaitingPrompt&, const WaitingPrompt&) = default;
};

struct SwarmReport {
  std::vector<PairStanding> pairs;
  std::vector<AdviceStanding> advice;  // the newest kMostAdvice, newest first
  std::vector<TalkSummary> talks;      // the newest kMostTalks, newest first
  std::vector<ModelSpending> spending;
  double budgetCents = 0.0;       // 0: no limit
  std::int64_t budgetTokens = 0;  // 0: no limit
  double guidedShare = -1.0;      // of proposals, that follow advice; negative: not known
  std::vector<WaitingPrompt> waiting;

  static constexpr std::size_t kMostAdvice = 1000;
  static constexpr std::size_t kMostTalks = 1000;
};
using SwarmSnapshot = std::shared_ptr<const SwarmReport>;

// What a person wants of a pair.
struct PairOrder {
  enum class Kind : std::uint8_t {
    Pause,  // it gets no turns
    Resume,
    Say,      // `text`, to a model, in its next prompt
    TakeRole  // `text`: "fusion", "memory", "parameters", "arithmetic"; of a built-in pair
  };
  Kind kind = Kind::Pause;
  int pair = -1;      // of a built-in pair
  std::string model;  // of another
  std::string text;
};

// A reply as the run would read it.
struct ReplyCheck {
  std::string intent;
  std::vector<std::string> kernels;  // that the plan launches, in their order
  int sourceLines = 0;
};

// Lives on the GUI thread; nothing here blocks.
class SwarmService : public QObject {
  Q_OBJECT

 public:
  using QObject::QObject;

  // To the run in progress; nothing where there is none. What was ordered is an event of the run.
  virtual void order(const PairOrder& order) = 0;
  // How the run in progress would read a reply, strictly. InvalidInput: it would not, and why.
  [[nodiscard]] virtual QFuture<Result<ReplyCheck>> checkReply(const std::string& text) = 0;
  // Reads and answers what waits in the exchange folder.
  [[nodiscard]] virtual Result<std::string> promptText(const WaitingPrompt& prompt) const = 0;
  [[nodiscard]] virtual Result<> sendReply(const WaitingPrompt& prompt, const std::string& text) = 0;
  // Of a run of a project, as its record has it.
  [[nodiscard]] virtual QFuture<Result<SwarmSnapshot>> recorded(const std::filesystem::path& project,
                                                                domain::RunId run) const = 0;
  // NotFound: no model made this candidate.
  [[nodiscard]] virtual QFuture<Result<Talk>> talk(const std::filesystem::path& project, domain::RunId run,
                                                   domain::CandidateId candidate) const = 0;

 Q_SIGNALS:
  // How the pairs of the run in progress stand; a few times a second.
  void changed(const swage::services::SwarmSnapshot& report);
  // An order that nobody could follow, and why.
  void refused(const swage::Error& error);
};

}  // namespace swage::services
