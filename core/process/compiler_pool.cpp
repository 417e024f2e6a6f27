// SPDX-License-Identifier: Apache-2.0
#include "core/process/compiler_pool.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/log.h"
#include "core/process/compiler_check.h"
#include "core/toolchain/compile_failure.h"

namespace swage::process {
namespace {

constexpr int kMaxFailedStarts = 3;
constexpr int kMaxAttempts = 2;

std::chrono::milliseconds milliseconds(double seconds) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000.0));
}

// What a compiler says of its own surroundings instead of the source: no g++, no NVRTC, no sandbox, no disk.
std::optional<Error> environmentError(const domain::CompileOutcome& outcome) {
  const auto* failure = std::get_if<domain::CompileFailed>(&outcome);
  if (failure == nullptr || failure->reason != domain::CompileFailureReason::Environment) {
    return std::nullopt;
  }
  const std::string& text = failure->log;
  const std::size_t hint = text.find(toolchain::kHintPrefix);
  return hint == std::string::npos
             ? Error(ErrorKind::Environment, text, "run `swage doctor`")
             : Error(ErrorKind::Environment, text.substr(0, hint), text.substr(hint + toolchain::kHintPrefix.size()));
}

}  // namespace

CompilerPool::CompilerPool(Options options, QObject* parent) : QObject(parent), m_options(std::move(options)) {
  const int size = std::max(1, m_options.size);
  m_slots.reserve(static_cast<std::size_t>(size));
  for (int i = 0; i < size; ++i) {
    m_slots.push_back({.clock = LaneClock(m_options.now)});
    note(m_slots.back());
  }
}

CompilerPool::~CompilerPool() = default;

int CompilerPool::busy() const {
  return static_cast<int>(
      std::count_if(m_slots.begin(), m_slots.end(), [](const Slot& s) { return s.job.has_value(); }));
}

int CompilerPool::pending() const {
  return busy() + static_cast<int>(m_queue.size());
}

std::vector<services::LaneStatus> CompilerPool::lanes() const {
  std::vector<services::LaneStatus> lanes;
  for (const Slot& slot : m_slots) {
    lanes.push_back({.kind = services::LaneStatus::Kind::Compiler,
                     .name = fmt::format("compiler {}", lanes.size() + 1),
                     .doing = slot.clock.doing(),
                     .isBusy = slot.clock.isBusy(),
                     .isLost = false,
                     .lastEnd = slot.lastEnd,
                     .candidate = {},
                     .sinceSeconds = slot.clock.sinceSeconds(),
                     .busySeconds = slot.clock.busySeconds(),
                     .lifeSeconds = slot.clock.lifeSeconds(),
                     .done = slot.done,
                     .replaced = slot.replaced});
    if (slot.job) {
      lanes.back().candidate = domain::CandidateId(static_cast<std::int64_t>(slot.job->token));
    }
  }
  return lanes;
}

void CompilerPool::note(Slot& slot) {
  const bool isReady = slot.channel && slot.channel->state() != ProcessChannel::State::Starting;
  const bool isBusy = slot.job && isReady;
  slot.clock.note(isBusy         ? "compiling"
                  : slot.channel ? (isReady ? "idle" : "starting")
                  : slot.job     ? "starting"
                                 : "not started",
                  isBusy);
}

void CompilerPool::compile(std::uint64_t token, domain::CompileRequest request) {
  if (request.parts.size() < 2) {
    enqueue({.token = token, .request = std::move(request)});
    return;
  }
  for (SeparateCompilation::Wanted& part : m_separate.begin(token, request)) {
    enqueue({.token = token, .part = std::move(part.key), .request = std::move(part.request)});
  }
  QTimer::singleShot(0, this, &CompilerPool::emitFinished);  // where all parts are known
}

void CompilerPool::enqueue(Job job) {
  job.number = ++m_jobs;
  m_queue.push_back(std::move(job));
  dispatch();
}

void CompilerPool::conclude(Job job, domain::CompileOutcome outcome) {
  if (job.part.empty()) {
    ++m_done;
    Q_EMIT compiled(job.token, outcome);
  } else {
    m_separate.finish(job.part, std::move(outcome));
    emitFinished();
  }
}

void CompilerPool::emitFinished() {
  for (SeparateCompilation::Finished& program : m_separate.takeFinished()) {
    const auto* failure = std::get_if<domain::CompileFailed>(&program.outcome);
    if (failure != nullptr && failure->reason == domain::CompileFailureReason::Error) {
      enqueue({.token = program.token, .request = std::move(program.request)});
    } else if (!m_stopping) {
      ++m_done;
      Q_EMIT compiled(program.token, program.outcome);
    }
  }
}

void CompilerPool::dispatch() {
  if (m_stopping) {
    return;
  }
  for (Slot& slot : m_slots) {
    if (m_queue.empty()) {
      return;
    }
    if (slot.job) {
      continue;
    }
    slot.job = std::move(m_queue.front());
    m_queue.pop_front();
    if (!slot.channel) {
      open(slot);
    } else if (slot.channel->state() == ProcessChannel::State::Ready) {
      give(slot);
    }
  }
}

void CompilerPool::open(Slot& slot) {
  slot.channel = std::make_unique<ProcessChannel>(ChannelOptions{.command = m_options.command,
                                                                 .name = fmt::format("compiler {}", ++m_started),
                                                                 .startLimit = m_options.startLimit,
                                                                 .stopGrace = m_options.stopGrace});
  ProcessChannel* channel = slot.channel.get();
  connect(channel, &ProcessChannel::ready, this, [this, &slot] {
    m_failedStarts = 0;
    if (slot.job) {
      give(slot);
    }
  });
  connect(channel, &ProcessChannel::jobFinished, this,
          [this, &slot](const JobOutcome& outcome) { handleJob(slot, outcome); });
  connect(channel, &ProcessChannel::died, this, [this, &slot](const ChannelEnd& end) { handleDeath(slot, end); });
  channel->start();
  note(slot);
}

void CompilerPool::give(Slot& slot) const {
  wire::Compile message;
  message.request = slot.job->number;
  message.what = slot.job->request;
  message.limitSeconds = m_options.limitSeconds;
  message.memoryLimitBytes = m_options.memoryLimitBytes;
  slot.channel->submit(message, milliseconds(m_options.limitSeconds) + m_options.overdue);
  note(slot);
}

void CompilerPool::handleJob(Slot& slot, const JobOutcome& outcome) {
  if (m_stopping || !slot.job) {
    return;
  }
  Job job = std::move(*slot.job);
  slot.job.reset();
  if (const auto* lost = std::get_if<JobLost>(&outcome)) {
    handleLoss(std::move(job), *lost);
    return;  // died() follows and dispatches
  }
  const auto* answer = std::get_if<wire::Compiled>(&std::get<wire::Message>(outcome));
  if (answer == nullptr || answer->request != job.number) {
    handleLoss(std::move(job),
               {.reason = JobLost::Reason::Protocol, .detail = "the answer belongs to another request"});
    slot.channel->kill();
    return;
  }
  if (const std::optional<Error> error = environmentError(answer->outcome)) {
    kill();
    Q_EMIT failed(*error);
    return;
  }
  ++slot.done;
  domain::CompileOutcome result = answer->outcome;
  note(slot);
  dispatch();  // the next source is on its way before anyone looks at this binary
  conclude(std::move(job), std::move(result));
}

void CompilerPool::handleLoss(Job job, const JobLost& lost) {
  if (lost.reason != JobLost::Reason::TimedOut && ++job.attempts < kMaxAttempts) {
    m_queue.push_front(std::move(job));
    return;
  }
  domain::CompileFailed failure;
  failure.reason = lost.reason == JobLost::Reason::TimedOut ? domain::CompileFailureReason::Timeout
                                                            : domain::CompileFailureReason::Crash;
  failure.log = lost.detail;
  conclude(std::move(job), std::move(failure));
}

void CompilerPool::retire(Slot& slot) {
  slot.channel->disconnect(this);
  slot.channel.release()->deleteLater();  // we are inside one of its signals
}

void CompilerPool::handleDeath(Slot& slot, const ChannelEnd& end) {
  retire(slot);
  if (m_stopping) {
    const bool last = std::none_of(m_slots.begin(), m_slots.end(), [](const Slot& s) { return s.channel != nullptr; });
    if (last) {
      Q_EMIT stopped();
    }
    return;
  }
  if (!end.wasReady && ++m_failedStarts >= kMaxFailedStarts) {
    const Error error = compilerStartFailure(end.child, end.detail);
    kill();
    Q_EMIT failed(error);
    return;
  }
  if (slot.job) {  // it died before the job reached it
    m_queue.push_front(std::move(*slot.job));
    slot.job.reset();
  }
  ++slot.replaced;
  slot.lastEnd = end.detail;
  note(slot);
  dispatch();
}

void CompilerPool::stop() {
  endAll(&ProcessChannel::stop);
}

void CompilerPool::kill() {
  endAll(&ProcessChannel::kill);
}

void CompilerPool::endAll(void (ProcessChannel::*how)()) {
  m_stopping = true;
  m_queue.clear();
  m_separate.forgetWaiting();
  bool alive = false;
  for (Slot& slot : m_slots) {
    slot.job.reset();
    if (slot.channel) {
      alive = true;
      (slot.channel.get()->*how)();
    }
  }
  if (!alive) {
    QTimer::singleShot(0, this, &CompilerPool::stopped);
  }
}

}  // namespace swage::process
