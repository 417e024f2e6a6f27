// SPDX-License-Identifier: Apache-2.0
#include "core/run/model_proposer.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/files.h"
#include "core/domain/json.h"
#include "core/models/clean_text.h"
#include "core/models/exchange_provider.h"
#include "core/models/http_provider.h"
#include "core/models/prompt_templates.h"
#include "core/models/replay_provider.h"
#include "core/run/swarm_board.h"
#include "core/stats/roofline.h"

namespace swage::run {
namespace {

using models::ChatFailure;
using models::ChatOutcome;
using models::ChatReply;
using models::FailureKind;

constexpr std::size_t kMostFailures = 8;      // that a prompt tells
constexpr std::size_t kMostSource = 1 << 18;  // bytes of the task's file
constexpr int kMostFailedInARow = 8;

search::Cost costOf(const ChatOutcome& outcome) {
  constexpr double kCents = 100.0;
  return {.seconds = outcome.seconds, .cents = outcome.usd * kCents, .tokens = outcome.usage.total()};
}

// Whether asking again, now or later, can end in another way.
bool isFatal(FailureKind kind) {
  return kind == FailureKind::Denied || kind == FailureKind::Quota || kind == FailureKind::BadRequest ||
         kind == FailureKind::Budget;
}

Error errorOf(const std::string& endpoint, const ChatFailure& failure) {
  const ErrorKind kind = failure.kind == FailureKind::Budget ? ErrorKind::BudgetExhausted : ErrorKind::ModelUnavailable;
  const bool canBeTested = failure.kind == FailureKind::Connection || failure.kind == FailureKind::Server ||
                           failure.kind == FailureKind::Garbled || failure.kind == FailureKind::Paused;
  return Error(kind,
               fmt::format("the model '{}': {}: {}", endpoint, models::name(failure.kind),
                           models::cleanLine(failure.message, 300)),
               failure.hint.empty() && canBeTested ? fmt::format("`swage models test {}` tries it by itself", endpoint)
                                                   : failure.hint);
}

// Whether telling the model of it may help: the fault is the program's.
bool canBeMended(const domain::Evaluation& evaluation) {
  return domain::asCorrect(evaluation) == nullptr && !std::holds_alternative<domain::Duplicate>(evaluation) &&
         !std::holds_alternative<domain::Cheating>(evaluation);
}

// As pieces of knowledge name it (domain::PatternEntry::architectures).
std::string patternArchitecture(const domain::DeviceInfo& device) {
  return device.kind == domain::DeviceKind::Cpu ? "cpu" : device.architecture;
}

std::string taskSource(const std::filesystem::path& file) {
  const auto text = readTextFile(file, kMostSource);
  return text ? *text : std::string();  // the graph says it, too
}

}  // namespace

ModelProposer::ModelProposer(domain::ProposerName name, const ProposerContext& context,
                             std::unique_ptr<models::ChatProvider> provider, Options options, QObject* parent)
    : Proposer(std::move(name), parent),
      m_task(context.task),
      m_device(context.device),
      m_language(domain::standardLanguage(context.device.kind)),
      m_source(taskSource(context.source)),
      m_provider(std::move(provider)),
      m_options(std::move(options)),
      m_random(context.seed) {
  connect(m_provider.get(), &models::ChatProvider::ended, this, &ModelProposer::handleEnded);
  m_rest.setSingleShot(true);
  connect(&m_rest, &QTimer::timeout, this, &Proposer::awoke);
}

// A question may be asked twice.
std::chrono::milliseconds ModelProposer::patience() const {
  return m_provider->patience() * 2;
}

void ModelProposer::ask() {
  if (m_fatal) {
    Q_EMIT passed(Pass::UntilNews);
    giveUpWhenQuiet();
    return;
  }
  if (m_rest.isActive()) {
    Q_EMIT passed(Pass::UntilNews);
    return;
  }
  if (m_repairs.empty()) {
    // What it has written last is judged first, so that a wrong program is mended before the next one is begun.
    if (static_cast<int>(m_calls.size() + m_offered.size()) >= width()) {
      Q_EMIT passed(Pass::UntilNews);
    } else {
      send(newThread());
    }
    return;
  }
  Thread thread = std::move(m_repairs.front());
  m_repairs.pop_front();
  send(std::move(thread));
}

ModelProposer::Thread ModelProposer::newThread() {
  models::PromptFacts facts{.task = m_task, .device = m_device, .language = m_language, .source = m_source};
  facts.failures = {m_failures.begin(), m_failures.end()};
  Thread thread;
  if (const Parent* parent = chooseParent(); parent != nullptr) {
    const stats::Roofline roof = stats::roofline(m_task.graph, m_device);
    facts.parent = models::ParentFacts{.program = parent->program,
                                       .timeNs = parent->timeNs,
                                       .speedup = parent->speedup.value,
                                       .floorNs = roof.floorNs,
                                       .roofNs = roof.roofNs};
    if (m_options.numbersFor) {
      facts.parent->kernels = m_options.numbersFor(parent->id);
    }
    thread.parents = {parent->id};
    thread.island = parent->island;
    thread.speedup = parent->speedup.value;
    thread.advice = adviceFor(parent->id);
    if (thread.advice) {
      facts.advice = thread.advice->advice;
    }
  }
  if (m_options.patternsFor) {
    facts.patterns = m_options.patternsFor(models::patternQuestion(facts), patternArchitecture(m_device));
  }
  if (m_options.relativeFor) {
    facts.relative = m_options.relativeFor(m_task.id.empty() ? domain::taskId(m_task) : m_task.id, m_device);
  }
  thread.request = models::firstRequest(facts);
  thread.request.maxTokens = m_options.maxTokens;
  thread.conversation.endpoint = m_options.endpoint;
  thread.conversation.promptsHash = models::promptTemplatesHash();
  thread.repairs = m_options.repairs;
  return thread;
}

// The better of two at random: mostly the best ones, and never only the best.
const ModelProposer::Parent* ModelProposer::chooseParent() {
  if (m_parents.empty()) {
    return nullptr;
  }
  const std::size_t one = m_random.below(m_parents.size());
  return &m_parents[std::min(one, m_random.below(m_parents.size()))];
}

void ModelProposer::send(Thread thread) {
  for (const std::string& words : std::exchange(m_words, {})) {
    thread.request.messages.back().text +=
        "\n" + models::filledIn(models::promptTemplate("person"), {{"words", words}});
  }
  const std::uint64_t call = m_provider->ask(thread.request);
  m_calls.emplace(call, std::move(thread));
}

void ModelProposer::handleEnded(std::uint64_t call, const ChatOutcome& outcome) {
  const auto found = m_calls.find(call);
  if (found == m_calls.end() || m_stopped) {
    return;
  }
  Thread thread = std::move(found->second);
  m_calls.erase(found);
  thread.conversation.exchanges.push_back({thread.request, outcome});
  thread.cost += costOf(outcome);
  Q_EMIT called(outcome);
  if (const ChatReply* reply = outcome.reply()) {
    m_failedInARow = 0;
    m_trouble.reset();
    handleReply(std::move(thread), *reply);
  } else {
    handleFailure(std::move(thread), *outcome.failure());
  }
}

void ModelProposer::handleReply(Thread thread, const ChatReply& reply) {
  thread.request.messages.push_back({models::Role::Assistant, reply.text.empty() ? "(nothing)" : reply.text});
  Result<models::Answer> answer = models::readAnswer(reply, m_language, m_task.graph);
  if (answer) {
    offer(std::move(thread), std::move(*answer));
    return;
  }
  if (std::exchange(thread.askedAgain, true)) {
    offerRejection(std::move(thread), answer.error());
    return;
  }
  thread.request.messages.push_back({models::Role::User, models::againMessage(m_language, answer.error().message())});
  if (m_paused) {
    m_held.push_back(std::move(thread));
  } else {
    send(std::move(thread));
  }
}

void ModelProposer::handleFailure(Thread thread, const ChatFailure& failure) {
  tellSpent(thread);
  if (failure.kind != FailureKind::Cancelled) {
    ++m_failedInARow;
    // That an endpoint is left alone says less than why it is.
    if (failure.kind != FailureKind::Paused || !m_trouble) {
      m_trouble = errorOf(m_options.endpoint, failure);
    }
  }
  if (isFatal(failure.kind) && !m_fatal) {
    m_fatal = m_trouble;
  } else if (m_failedInARow == kMostFailedInARow && !m_fatal) {
    m_fatal = Error(*m_trouble).withContext(fmt::format("{} calls in a row failed", m_failedInARow));
  }
  if (!m_fatal) {
    m_rest.start(m_options.rest);
  }
  Q_EMIT passed(Pass::UntilNews);
  giveUpWhenQuiet();
}

void ModelProposer::tellSpent(const Thread& thread) {
  if (!thread.conversation.exchanges.empty()) {
    Q_EMIT spent(thread.cost, models::conversationJson(thread.conversation));
  }
}

// What is still out has been paid for.
void ModelProposer::giveUpWhenQuiet() {
  if (m_fatal && m_calls.empty() && m_held.empty() && !m_stopped) {
    const Error error = *m_fatal;
    Q_EMIT failed(error);
  }
}

Offer ModelProposer::offerOf(Thread& thread) {
  Offer offer;
  offer.number = m_next++;
  offer.madeBy = name();
  offer.parents = thread.parents;
  offer.island = thread.island;
  offer.cost = std::exchange(thread.cost, {});
  offer.conversation = models::conversationJson(thread.conversation);
  m_talks[offer.number] = talkSummaryOf(thread.conversation);
  thread.conversation.exchanges
      .clear();  // what comes later is the next candidate's; its questions repeat what was said
  return offer;
}

void ModelProposer::offer(Thread thread, models::Answer answer) {
  Offer made = offerOf(thread);
  made.program = std::move(answer.program);
  made.note = std::move(answer.intent);
  m_talks[made.number].intent = made.note;
  thread.askedAgain = false;
  m_offered.emplace(made.number, std::move(thread));
  Q_EMIT offered(made);
  giveUpWhenQuiet();
}

void ModelProposer::offerRejection(Thread thread, const Error& why) {
  Offer made = offerOf(thread);
  made.unwritten = domain::Rejected{.rule = "unreadable answer", .detail = why.message()};
  Q_EMIT offered(made);
  giveUpWhenQuiet();
}

void ModelProposer::hear(const CandidateEnd& end) {
  const store::CandidateRecord& candidate = end.candidate;
  const domain::Evaluation& evaluation = *candidate.evaluation;
  tellTalk(candidate);
  std::optional<Thread> thread;
  if (auto node = m_offered.extract(candidate.proposal); !node.empty()) {
    thread = std::move(node.mapped());
    scoreAdvice(*thread, end);
  }
  if (domain::asCorrect(evaluation) != nullptr) {
    keepParent(candidate);
    return;
  }
  keepFailure(domain::summary(evaluation));
  if (thread && thread->repairs > 0 && canBeMended(evaluation)) {
    queueRepair(std::move(*thread), candidate);
  }
}

void ModelProposer::tellTalk(const store::CandidateRecord& candidate) {
  if (auto node = m_talks.extract(candidate.proposal); !node.empty()) {
    node.mapped().candidate = candidate.id;
    node.mapped().result = domain::name(domain::statusOf(*candidate.evaluation));
    Q_EMIT talked(node.mapped());
  }
}

void ModelProposer::say(std::string_view words) {
  std::string line = models::withoutSecrets(models::cleanLine(words, kMostWords));
  if (!line.empty()) {
    m_words.push_back(std::move(line));
  }
}

std::string ModelProposer::waitingWords() const {
  return fmt::format("{}", fmt::join(m_words, "\n"));
}

std::string ModelProposer::doing() const {
  if (m_fatal) {
    return "stopped: " + m_fatal->message();
  }
  if (!m_calls.empty()) {
    return m_calls.size() == 1 ? std::string("waits for a reply") : fmt::format("waits for {} replies", m_calls.size());
  }
  if (m_rest.isActive()) {
    return "rests after a failed call";
  }
  return m_offered.empty() ? "waits for its turn" : "waits for its program to be tried";
}

domain::CandidateId ModelProposer::about() const {
  const Thread* thread = !m_calls.empty()    ? &m_calls.rbegin()->second
                         : m_repairs.empty() ? nullptr
                                             : &m_repairs.front();
  return thread == nullptr || thread->parents.empty() ? domain::CandidateId() : thread->parents.front();
}

bool ModelProposer::isMending() const {
  return m_calls.empty() ? !m_repairs.empty() : m_calls.rbegin()->second.request.messages.size() > 1;
}

std::vector<services::WaitingPrompt> ModelProposer::waitingPrompts() const {
  std::vector<services::WaitingPrompt> waiting;
  if (const auto* folder = qobject_cast<const models::ExchangeProvider*>(m_provider.get())) {
    for (const auto& [call, thread] : m_calls) {
      waiting.push_back({name().text(), folder->promptFile(call), folder->replyFile(call)});
    }
  }
  return waiting;
}

void ModelProposer::queueRepair(Thread thread, const store::CandidateRecord& candidate) {
  --thread.repairs;
  thread.parents = {candidate.id};
  thread.advice = adviceFor(candidate.id);
  thread.speedup = 0.0;
  const std::optional<domain::Advice> advice = thread.advice ? std::optional(thread.advice->advice) : std::nullopt;
  thread.request.messages.push_back({models::Role::User, models::repairMessage(*candidate.evaluation, advice)});
  m_repairs.push_back(std::move(thread));
}

std::optional<judge::GivenAdvice> ModelProposer::adviceFor(domain::CandidateId id) {
  std::optional<judge::GivenAdvice> given = m_options.adviceFor ? m_options.adviceFor(id) : std::nullopt;
  if (given) {
    given->pair = -1;
    given->model = name().text();
    if (m_given.emplace(given->about, given->advice.rule).second) {
      Q_EMIT advised({.given = {*given}, .scored = std::nullopt});
    }
  }
  return given;
}

// Before the program itself is among the parents.
void ModelProposer::scoreAdvice(const Thread& thread, const CandidateEnd& end) {
  if (!thread.advice) {
    return;
  }
  const store::CandidateRecord& candidate = end.candidate;
  const domain::Correct* correct = domain::asCorrect(*candidate.evaluation);
  Q_EMIT advised({.given = {},
                  .scored = judge::scoreOf(
                      *thread.advice, {.candidate = candidate.id,
                                       .speedup = correct != nullptr ? correct->timing.speedup : 0.0,
                                       .before = thread.speedup,
                                       .best = m_parents.empty() ? 0.0 : m_parents.front().speedup.value,
                                       .counts = correct != nullptr && !correct->timing.screenedOut,
                                       .seconds = candidate.compileSeconds + end.stages.verify + end.stages.timing})});
}

void ModelProposer::keepFailure(const std::string& line) {
  m_failures.push_back(models::cleanLine(line, 200));
  if (m_failures.size() > kMostFailures) {
    m_failures.pop_front();
  }
}

void ModelProposer::observe(const CandidateEnd& end) {
  if (makes(end.candidate.madeBy)) {
    m_next = std::max(m_next, end.candidate.proposal + 1);
  }
  keepParent(end.candidate);
}

void ModelProposer::keepParent(const store::CandidateRecord& candidate) {
  const domain::Correct* correct = domain::asCorrect(*candidate.evaluation);
  const bool isUsable = correct != nullptr && !correct->timing.screenedOut && candidate.program.plan.hasKernels() &&
                        candidate.program.language == m_language;
  if (!isUsable) {
    return;
  }
  const domain::PairedTiming& timing = correct->timing;
  Parent parent{.id = candidate.id,
                .program = candidate.program,
                .speedup = {timing.speedup, timing.speedupLow, timing.speedupHigh},
                .timeNs = timing.candidate.medianNs,
                .island = candidate.island};
  const auto place = std::find_if(m_parents.begin(), m_parents.end(), [&parent](const Parent& other) {
    return domain::ranksBefore(parent.speedup, other.speedup);
  });
  m_parents.insert(place, std::move(parent));
  if (m_parents.size() > m_options.parents) {
    m_parents.pop_back();
  }
}

void ModelProposer::takeUp(const search::Cost& earlier) {
  constexpr double kCents = 100.0;
  if (m_options.budget) {
    m_options.budget->takeUp(earlier.cents / kCents, earlier.tokens);
  }
}

void ModelProposer::pause() {
  m_paused = true;
}

void ModelProposer::resume() {
  m_paused = false;
  while (!m_held.empty()) {
    Thread thread = std::move(m_held.front());
    m_held.pop_front();
    send(std::move(thread));
  }
}

void ModelProposer::stop() {
  m_stopped = true;
  m_rest.stop();
  for (auto& [call, thread] : std::exchange(m_calls, {})) {
    if (const ChatOutcome outcome = m_provider->soFar(call); outcome.attempts > 0) {
      thread.conversation.exchanges.push_back({thread.request, outcome});
      thread.cost += costOf(outcome);
      Q_EMIT called(outcome);
    }
    m_provider->cancel(call);
    tellSpent(thread);
  }
  for (const Thread& thread : std::exchange(m_held, {})) {
    tellSpent(thread);
  }
}

Result<std::vector<ProposerFactory>> modelProposers(const ModelUse& use) {
  const auto budget = std::make_shared<models::CallBudget>(use.limits);
  std::vector<ProposerFactory> factories;
  for (const models::Endpoint& endpoint : use.endpoints) {
    SWAGE_TRY(models::checkEndpoint(endpoint));
    SWAGE_TRY_ASSIGN(const domain::ProposerName name, models::proposerNameOf(endpoint.name));
    std::vector<models::Conversation> recorded;
    if (endpoint.kind == models::EndpointKind::Replay) {
      SWAGE_TRY_ASSIGN(recorded, models::ReplayProvider::read(endpoint.baseUrl));
    }
    const auto provider = [endpoint, budget, recorded,
                           keys = use.keys](std::uint64_t seed) -> std::unique_ptr<models::ChatProvider> {
      switch (endpoint.kind) {
        case models::EndpointKind::Replay: return std::make_unique<models::ReplayProvider>(recorded);
        case models::EndpointKind::Exchange: return std::make_unique<models::ExchangeProvider>(endpoint.baseUrl);
        default:
          return std::make_unique<models::HttpProvider>(endpoint, keys, budget,
                                                        models::HttpProvider::Options{.seed = seed});
      }
    };
    factories.emplace_back([name, endpoint, budget, provider, adviceFor = use.adviceFor, patternsFor = use.patternsFor,
                            relativeFor = use.relativeFor, rest = use.rest](const ProposerContext& context) {
      ModelProposer::Options options;
      options.endpoint = endpoint.name;
      options.maxTokens = endpoint.maxOutput;
      options.adviceFor = adviceFor ? adviceFor : context.adviceFor;
      options.numbersFor = context.numbersFor;
      options.patternsFor = patternsFor;
      options.relativeFor = relativeFor;
      options.budget = budget;
      options.rest = rest;
      return std::make_unique<ModelProposer>(name, context, provider(context.seed), std::move(options));
    });
  }
  return factories;
}

}  // namespace swage::run
