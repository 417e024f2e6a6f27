// SPDX-License-Identifier: Apache-2.0
#include "core/run/proposer_pool.h"

#include <algorithm>
#include <exception>
#include <utility>

#include <fmt/format.h>

#include "core/base/scope_exit.h"

namespace swage::run {
namespace {

constexpr std::chrono::milliseconds kDeadlineTick{100};
constexpr int kMostQuestions = 64;  // for one offer: a proposer that passes and wakes in one breath holds nobody up

search::ProposerCredits::Result resultOf(const CandidateEnd& end) {
  using Result = search::ProposerCredits::Result;
  const auto& evaluation = end.candidate.evaluation;
  if (!evaluation || domain::asCorrect(*evaluation) == nullptr) {
    return Result::Failed;
  }
  return end.isElite ? Result::Improved : Result::Correct;
}

}  // namespace

ProposerPool::ProposerPool(Options options, QObject* parent) : QObject(parent), m_options(std::move(options)) {
  m_deadlines.setInterval(kDeadlineTick);
  connect(&m_deadlines, &QTimer::timeout, this, &ProposerPool::checkDeadlines);
}

ProposerPool::~ProposerPool() = default;

Result<> ProposerPool::add(std::unique_ptr<Proposer> proposer, Turns turns) {
  const domain::ProposerName& name = proposer->name();
  if (find([&name](const Proposer& other) { return other.name() == name; }) != nullptr) {
    return Error(ErrorKind::InvalidInput, fmt::format("there are two proposers named '{}'", name.text()));
  }
  if (turns == Turns::Some) {
    m_credits.join(name);
  }
  m_entries.push_back(std::make_unique<Entry>(Entry{.proposer = std::move(proposer), .turns = turns}));
  connectTo(*m_entries.back());
  return {};
}

void ProposerPool::connectTo(Entry& entry) {
  const Proposer* proposer = entry.proposer.get();
  connect(proposer, &Proposer::offered, this, [this, &entry](const Offer& offer) { handleOffer(entry, offer); });
  connect(proposer, &Proposer::spent, this, [this, &entry](const search::Cost& cost, const std::string& conversation) {
    handleSpent(entry, cost, conversation);
  });
  connect(proposer, &Proposer::passed, this, [this, &entry](Proposer::Pass until) { handlePass(entry, until); });
  connect(proposer, &Proposer::awoke, this, [this, &entry] { handleAwoke(entry); });
  connect(proposer, &Proposer::failed, this, [this, &entry](const Error& why) { drop(entry, why); });
}

ProposerPool::Entry* ProposerPool::find(const std::function<bool(const Proposer&)>& isMeant) const {
  const auto found = std::find_if(m_entries.begin(), m_entries.end(),
                                  [&isMeant](const auto& entry) { return isMeant(*entry->proposer); });
  return found == m_entries.end() ? nullptr : found->get();
}

bool ProposerPool::mayAsk(const Entry& entry) const {
  return entry.turns == Turns::Some && entry.state == State::Active && !entry.hasNothing && !entry.isHeld &&
         static_cast<int>(entry.asked.size()) < entry.proposer->width();
}

namespace {
search::Cost largerOf(const search::Cost& a, const search::Cost& b) {
  return {.seconds = std::max(a.seconds, b.seconds),
          .cents = std::max(a.cents, b.cents),
          .tokens = std::max(a.tokens, b.tokens)};
}
}  // namespace

// With what others owe. Who costs nothing is always affordable.
bool ProposerPool::isAffordable(const Entry& entry) const {
  const search::Cost& budget = m_options.budget;
  search::Cost all = m_credits.spent();
  for (const auto& other : m_entries) {
    const search::Cost each = largerOf(other->dearest, other->proposer->mostCost());
    const double owed = static_cast<double>(other->asked.size()) + (other->state == State::Dropped ? 0 : other->late);
    all.cents += each.cents * owed;
    all.tokens += each.tokens * static_cast<std::int64_t>(owed);
  }
  search::Cost one = largerOf(entry.dearest, entry.proposer->mostCost());
  // Of an earlier sitting only the sum is known.
  if (const auto* credit = m_credits.find(entry.proposer->name()); credit != nullptr && credit->offered > 0) {
    one = largerOf(one, {.seconds = 0.0,
                         .cents = credit->cost.cents / static_cast<double>(credit->offered),
                         .tokens = credit->cost.tokens / credit->offered});
  }
  const bool isTooDear = budget.cents > 0.0 && one.cents > 0.0 && all.cents + one.cents > budget.cents;
  return !isTooDear && !(budget.tokens > 0 && one.tokens > 0 && all.tokens + one.tokens > budget.tokens);
}

// Only when nothing is owed that may turn out cheaper.
void ProposerPool::leaveOutTheUnaffordable() {
  for (const auto& entry : m_entries) {
    const bool owes =
        std::any_of(m_entries.begin(), m_entries.end(), [](const auto& one) { return !one->asked.empty(); });
    if (!owes && mayAsk(*entry) && !isAffordable(*entry)) {
      const domain::ProposerName& name = entry->proposer->name();
      entry->state = State::Done;
      entry->why = Error(ErrorKind::BudgetExhausted, fmt::format("the budget for '{}' is used up", name.text()),
                         "--budget-usd and --budget-tokens set it");
      m_credits.leave(name);
      Q_EMIT dropped(name, *entry->why);
    }
  }
}

// Stride scheduling (Waldspurger and Weihl, "Stride scheduling: deterministic proportional-share resource management",
// 1995): whoever is furthest behind is next, and goes on by 1 / share. Nobody saves up turns while it cannot be asked.
ProposerPool::Entry* ProposerPool::nextInTurn() {
  leaveOutTheUnaffordable();
  Entry* next = nullptr;
  for (const auto& entry : m_entries) {
    if (!mayAsk(*entry) || !isAffordable(*entry)) {
      continue;
    }
    entry->pass = std::max(entry->pass, m_virtualTime);
    if (next == nullptr || entry->pass < next->pass) {
      next = entry.get();
    }
  }
  return next;
}

void ProposerPool::ask(Entry& entry) {
  m_virtualTime = entry.pass;
  entry.pass += 1.0 / m_credits.share(entry.proposer->name());
  entry.asked.push_back(m_options.now());
  guarded(entry, [](Proposer& proposer) { proposer.ask(); });
  if (!entry.asked.empty() && !m_deadlines.isActive()) {
    m_deadlines.start();
  }
}

std::optional<ProposerPool::Taken> ProposerPool::next() {
  m_asking = true;
  const ScopeExit done([this] { m_asking = false; });
  for (int questions = 0; m_inbox.empty() && questions < kMostQuestions; ++questions) {
    Entry* entry = m_stopped ? nullptr : nextInTurn();
    if (entry == nullptr) {
      return std::nullopt;
    }
    ask(*entry);
  }
  if (m_inbox.empty()) {
    return std::nullopt;
  }
  Taken taken = std::move(m_inbox.front());
  m_inbox.pop_front();
  return taken;
}

// Whoever has let a deadline pass is not waited for again, until it answers.
bool ProposerPool::isWaiting() const {
  return !m_stopped && (!m_inbox.empty() || std::any_of(m_entries.begin(), m_entries.end(), [](const auto& entry) {
    const bool takesTurns = entry->turns == Turns::Some && entry->state == State::Active;
    const bool mayGoOn = takesTurns && (entry->isHeld || entry->proposer->isResting());
    return mayGoOn || (!entry->asked.empty() && entry->misses == 0);
  }));
}

bool ProposerPool::settleAnswer(Entry& entry) {
  if (entry.asked.empty() && entry.late == 0) {
    return false;
  }
  if (entry.asked.empty()) {
    --entry.late;
  } else {
    entry.asked.pop_front();
  }
  entry.misses = 0;
  if (entry.state == State::Silent) {
    entry.state = State::Active;
    entry.why.reset();
    if (!entry.isHeld) {
      m_credits.join(entry.proposer->name());
    }
  }
  return true;
}

void ProposerPool::handleOffer(Entry& entry, const Offer& offer) {
  if (m_stopped || entry.state == State::Dropped || !settleAnswer(entry)) {
    handleSpent(entry, offer.cost, offer.conversation);
    return;
  }
  if (!entry.proposer->makes(offer.madeBy)) {
    drop(entry, Error(ErrorKind::InvalidInput, fmt::format("'{}' offers a program as if it were '{}'",
                                                           entry.proposer->name().text(), offer.madeBy.text())));
    return;
  }
  Taken& taken = m_inbox.emplace_back(Taken{entry.proposer->name(), offer});
  taken.offer.cost = offer.cost.sound();
  entry.dearest = largerOf(entry.dearest, taken.offer.cost);
  m_credits.countOffered(entry.proposer->name(), taken.offer.cost);
  announce();
}

void ProposerPool::handleSpent(const Entry& entry, const search::Cost& cost, const std::string& conversation) {
  const search::Cost sound = cost.sound();
  m_credits.addCost(entry.proposer->name(), sound);
  tellSpent(entry.proposer->name(), sound, conversation);
}

void ProposerPool::tellSpent(const domain::ProposerName& proposer, const search::Cost& cost,
                             const std::string& conversation) {
  if (!cost.isNothing() || !conversation.empty()) {
    Q_EMIT spent(proposer, cost, conversation);
  }
}

void ProposerPool::handlePass(Entry& entry, Proposer::Pass until) {
  if (m_stopped || entry.state == State::Dropped || !settleAnswer(entry)) {
    return;
  }
  entry.hasNothing = true;
  if (until == Proposer::Pass::ForGood) {
    entry.state = State::Done;
    m_credits.leave(entry.proposer->name());
  }
  announce();
}

void ProposerPool::handleAwoke(Entry& entry) {
  entry.hasNothing = false;
  announce();
}

void ProposerPool::announce() {
  if (!m_asking && !m_stopped) {
    Q_EMIT ready();
  }
}

void ProposerPool::checkDeadlines() {
  if (m_paused) {
    return;
  }
  const auto now = m_options.now();
  bool changed = false;
  bool owed = false;
  for (const auto& entry : m_entries) {
    while (!entry->isHeld && !entry->asked.empty() && now - entry->asked.front() >= entry->proposer->patience()) {
      entry->asked.pop_front();
      ++entry->late;
      changed = true;
      if (++entry->misses == kMisses) {
        entry->state = State::Silent;
        m_credits.leave(entry->proposer->name());
        entry->why = Error(ErrorKind::Timeout, fmt::format("'{}' does not answer", entry->proposer->name().text()));
        Q_EMIT dropped(entry->proposer->name(), *entry->why);
      }
    }
    owed = owed || !entry->asked.empty();
  }
  if (!owed) {
    m_deadlines.stop();
  }
  if (changed) {
    announce();
  }
}

bool ProposerPool::isAnybodyLeft() const {
  return std::any_of(m_entries.begin(), m_entries.end(),
                     [](const auto& entry) { return entry->turns == Turns::Some && entry->state == State::Active; });
}

namespace {
// What outside of this program is to blame for: what has been found so far is worth finishing.
bool isOutside(const Error& why) {
  return why.kind() == ErrorKind::ModelUnavailable || why.kind() == ErrorKind::BudgetExhausted;
}
}  // namespace

std::optional<Error> ProposerPool::trouble() const {
  std::vector<Error> all;
  for (const auto& entry : m_entries) {
    if (entry->turns == Turns::None) {
      continue;
    }
    std::optional<Error> why = entry->why ? entry->why : entry->proposer->trouble();
    if (!why) {
      return std::nullopt;
    }
    all.push_back(std::move(*why));
  }
  if (all.empty()) {
    return std::nullopt;
  }
  const auto isOfBudget = [](const Error& why) { return why.kind() == ErrorKind::BudgetExhausted; };
  const auto first = std::find_if_not(all.begin(), all.end(), isOfBudget);
  std::string message;
  for (const Error& why : all) {
    message += (message.empty() ? "" : "; ") + why.message();
  }
  return Error(first == all.end() ? ErrorKind::BudgetExhausted : ErrorKind::ModelUnavailable, std::move(message),
               first == all.end() ? all.front().hint() : first->hint());
}

void ProposerPool::drop(Entry& entry, const Error& why) {
  if (entry.state == State::Dropped) {
    return;
  }
  entry.state = State::Dropped;
  entry.why = why;
  entry.asked.clear();
  m_credits.leave(entry.proposer->name());
  if (isAnybodyLeft() || isOutside(why)) {
    Q_EMIT dropped(entry.proposer->name(), why);
    announce();
  } else {
    Q_EMIT failed(why);
  }
}

template <class Call>
void ProposerPool::guarded(Entry& entry, Call&& call) {
  const std::string& name = entry.proposer->name().text();
  try {
    call(*entry.proposer);
  } catch (const std::exception& error) {
    drop(entry, Error(ErrorKind::Internal, fmt::format("'{}' threw an exception: {}", name, error.what())));
  } catch (...) {
    drop(entry, Error(ErrorKind::Internal, fmt::format("'{}' threw an exception", name)));
  }
}

void ProposerPool::tell(const domain::ProposerName& proposer, const CandidateEnd& end) {
  spread(find([&proposer](const Proposer& other) { return other.name() == proposer; }), end);
}

void ProposerPool::show(const CandidateEnd& end) {
  const domain::ProposerName& madeBy = end.candidate.madeBy;
  if (const Entry* maker = find([&madeBy](const Proposer& one) { return one.makes(madeBy); })) {
    m_credits.countOffered(maker->proposer->name());
  }
  spread(nullptr, end);
}

void ProposerPool::addCost(const domain::ProposerName& proposer, const search::Cost& cost) {
  m_credits.addCost(proposer, cost);
  for (const auto& entry : m_entries) {
    if (entry->proposer->makes(proposer)) {
      guarded(*entry, [&cost](Proposer& one) { one.takeUp(cost); });
    }
  }
}

// `owner` hears, the others observe. Where it stands is known when the first has entered it into the archive.
void ProposerPool::spread(const Entry* owner, const CandidateEnd& end) {
  CandidateEnd known = end;
  for (const auto& entry : m_entries) {
    entry->hasNothing = false;
    const auto say = entry.get() == owner ? &Proposer::hear : &Proposer::observe;
    if (entry->state != State::Dropped) {
      guarded(*entry, [&](Proposer& proposer) { (proposer.*say)(known); });
    }
    if (entry == m_entries.front()) {
      known.isElite = m_options.isElite && m_options.isElite(end.candidate);
    }
  }
  const domain::ProposerName& madeBy = end.candidate.madeBy;
  const Entry* maker = owner != nullptr ? owner : find([&](const Proposer& one) { return one.makes(madeBy); });
  if (maker != nullptr) {
    const double trialSeconds = end.candidate.compileSeconds + end.stages.verify + end.stages.timing;
    m_credits.countEnded(maker->proposer->name(), resultOf(known), trialSeconds);
  }
}

void ProposerPool::each(void (Proposer::*what)()) {
  for (const auto& entry : m_entries) {
    guarded(*entry, [what](Proposer& proposer) { (proposer.*what)(); });
  }
}

bool ProposerPool::hold(const domain::ProposerName& name, bool isHeld) {
  Entry* entry = find([&name](const Proposer& one) { return one.name() == name; });
  if (entry == nullptr || entry->turns == Turns::None) {
    return false;
  }
  if (std::exchange(entry->isHeld, isHeld) == isHeld) {
    return true;
  }
  if (isHeld) {
    m_credits.leave(name);
  } else if (entry->state == State::Active) {
    m_credits.join(name);
  }
  if (!m_paused) {
    std::fill(entry->asked.begin(), entry->asked.end(), m_options.now());
    guarded(*entry, [isHeld](Proposer& proposer) { isHeld ? proposer.pause() : proposer.resume(); });
  }
  announce();
  return true;
}

bool ProposerPool::isHeld(const domain::ProposerName& name) const {
  const Entry* entry = find([&name](const Proposer& one) { return one.name() == name; });
  return entry != nullptr && entry->isHeld;
}

void ProposerPool::pause() {
  if (!std::exchange(m_paused, true)) {
    each(&Proposer::pause);
  }
}

void ProposerPool::resume() {
  if (!std::exchange(m_paused, false)) {
    return;
  }
  for (const auto& entry : m_entries) {
    std::fill(entry->asked.begin(), entry->asked.end(), m_options.now());
  }
  for (const auto& entry : m_entries) {
    if (!entry->isHeld) {
      guarded(*entry, [](Proposer& proposer) { proposer.resume(); });
    }
  }
}

void ProposerPool::stop() {
  if (std::exchange(m_stopped, true)) {
    return;
  }
  m_deadlines.stop();
  for (const Taken& taken : std::exchange(m_inbox, {})) {
    tellSpent(taken.proposer, taken.offer.cost, taken.offer.conversation);
  }
  each(&Proposer::stop);
}

}  // namespace swage::run
