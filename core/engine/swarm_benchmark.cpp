// SPDX-License-Identifier: Apache-2.0
#include "core/engine/swarm_benchmark.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "core/models/http_provider.h"
#include "core/run/offer_event.h"

namespace swage::engine {
namespace {

constexpr std::chrono::milliseconds kBeat{5};
constexpr std::chrono::milliseconds kTell{300};  // as often as a run tells the window
constexpr double kWarmUpSeconds = 2.0;           // none of what is measured

// %1 = relu(%0): the shapes do not matter, since nothing is run.
domain::Task smallTask() {
  using domain::Argument;
  using domain::ValueId;
  domain::Task task;
  task.name = "benchmark";
  domain::Graph& graph = task.graph;
  const auto type = domain::contiguousTensor(domain::ScalarType::Float32, {4096, 1024});
  graph.values = {type, type};
  graph.inputs = {{.value = ValueId(0), .kind = domain::InputKind::User, .name = "x"}};
  graph.nodes = {
      {.op = "aten.relu.default", .args = {Argument{ValueId(0)}}, .kwargs = {}, .outputs = {ValueId(1)}, .where = {}}};
  graph.outputs = {{.value = ValueId(1), .kind = domain::OutputKind::User, .name = {}}};
  return task;
}

// In the form that prompts ask for, with as many lines of source as it takes.
std::string replyOf(int tokens) {
  const std::size_t bytes = static_cast<std::size_t>(tokens) * models::TokenServer::Options::kBytesPerToken;
  const std::string tail =
      "```\n```json\n{\"intent\": \"one pass\", \"steps\": [{\"kernel\": \"relu\", \"arguments\": [0, 1]}]}\n```\n";
  std::string reply = "One pass over the input.\n\n```cpp\nextern \"C\" void relu(void** arguments) {\n";
  for (int line = 0; reply.size() + tail.size() + 64 < bytes; ++line) {
    reply += fmt::format("  out[{0}] = in[{0}] > 0.0f ? in[{0}] : 0.0f;\n", line);
  }
  return reply + "}\n" + tail;
}

double percentile(std::vector<double> values, double share) {
  if (values.empty()) {
    return 0.0;
  }
  const auto index = static_cast<std::size_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(index), values.end());
  return values[index];
}

}  // namespace

bool SwarmBenchmark::Report::keepsUp() const {
  constexpr double kEnough = 0.98;
  constexpr std::int64_t kNoise = std::int64_t{1} << 20U;  // what buffers hold by chance
  return tokensPerSecond >= kEnough * wantedTokensPerSecond && queuedLast <= queuedFirst + kNoise;
}

SwarmBenchmark::SwarmBenchmark(Options options, QObject* parent)
    : QObject(parent), m_options(std::move(options)), m_task(smallTask()) {
  m_device.name = "none";
  m_device.architecture = "x86-64-v3";
  m_device.threads = 1;
  m_beat.setTimerType(Qt::PreciseTimer);
  m_beat.setInterval(kBeat);
  connect(&m_beat, &QTimer::timeout, this, &SwarmBenchmark::beat);
  m_tell.setInterval(kTell);
  connect(&m_tell, &QTimer::timeout, this, &SwarmBenchmark::tellWindow);
}

SwarmBenchmark::~SwarmBenchmark() {
  m_feed.reset();
  m_pool.reset();
  if (m_server != nullptr) {
    m_server->deleteLater();
  }
  m_serverThread.quit();
  m_serverThread.wait();
}

void SwarmBenchmark::start() {
  Result<> ready = openRecord();
  if (ready) {
    ready = openServer();
  }
  if (ready) {
    ready = makeModels();
  }
  if (!ready) {
    conclude(std::move(ready).error());
    return;
  }
  m_sinceBeat.start();
  m_clock.start();
  m_beat.start();
  m_tell.start();
  drain();
}

Result<> SwarmBenchmark::openRecord() {
  SWAGE_TRY_ASSIGN(m_record, store::Record::open(m_options.folder, store::Record::Mode::ReadWrite));
  store::NewRun run;
  run.task = m_task;
  run.device = m_device;
  run.optionsJson = "{}";
  run.swageVersion = SWAGE_VERSION;
  SWAGE_TRY_ASSIGN(m_run, m_record->createRun(run));
  return {};
}

Result<> SwarmBenchmark::openServer() {
  m_server = new models::TokenServer({.reply = replyOf(m_options.tokensPerReply),
                                      .tokensPerSecond = m_options.tokensPerSecond,
                                      .tokensPerEvent = m_options.tokensPerEvent});
  m_server->moveToThread(&m_serverThread);
  m_serverThread.start();
  bool isOpen = false;
  QMetaObject::invokeMethod(
      m_server,
      [this, &isOpen] {
        isOpen = m_server->open();
        m_port = m_server->serverPort();
      },
      Qt::BlockingQueuedConnection);
  return isOpen ? Result<>() : Result<>(Error(ErrorKind::Environment, "cannot listen on a port of this machine"));
}

Result<> SwarmBenchmark::makeModels() {
  m_pool = std::make_unique<run::ProposerPool>(run::ProposerPool::Options());
  run::ModelUse use;
  use.keys = std::make_shared<models::KeyRing>();
  for (int i = 0; i < m_options.models; ++i) {
    models::Endpoint endpoint;
    endpoint.name = fmt::format("model{}", i + 1);
    endpoint.baseUrl = fmt::format("http://127.0.0.1:{}/v1", m_port);
    endpoint.model = "tokens";
    endpoint.price = models::TokenPrice{.input = 1.0, .cachedInput = 1.0, .output = 2.0};
    endpoint.concurrency = 1;
    use.endpoints.push_back(std::move(endpoint));
  }
  SWAGE_TRY_ASSIGN(const std::vector<run::ProposerFactory> factories, run::modelProposers(use));
  std::vector<run::ModelProposer*> models;
  for (const run::ProposerFactory& make : factories) {
    std::unique_ptr<run::Proposer> made =
        make({.task = m_task, .device = m_device, .run = m_run, .seed = 1, .source = {}, .adviceFor = {}});
    models.push_back(qobject_cast<run::ModelProposer*>(made.get()));
    SWAGE_TRY(m_pool->add(std::move(made)));
  }
  m_feed = std::make_unique<run::SwarmFeed>(run::SwarmFeed::Parts{
      .swarm = nullptr, .pool = m_pool.get(), .searcher = nullptr, .models = std::move(models), .budget = {}});
  connect(m_pool.get(), &run::ProposerPool::ready, this, &SwarmBenchmark::drain, Qt::QueuedConnection);
  connect(m_pool.get(), &run::ProposerPool::failed, this, [this](const Error& error) { conclude(error); });
  connect(m_pool.get(), &run::ProposerPool::dropped, this, [this](const auto&, const Error& why) {
    if (!m_pool->isAnybodyLeft()) {
      conclude(why);
    }
  });
  return {};
}

// Everything that is there, and a question to whoever is free.
void SwarmBenchmark::drain() {
  while (!m_ended) {
    const std::optional<run::ProposerPool::Taken> taken = m_pool->next();
    if (!taken) {
      return;
    }
    if (Result<> kept = keep(*taken); !kept) {
      conclude(std::move(kept).error());
    }
  }
}

// As a run keeps it; then it has failed, and its model mends it.
Result<> SwarmBenchmark::keep(const run::ProposerPool::Taken& taken) {
  const run::Offer& offer = taken.offer;
  store::CandidateRecord candidate;
  candidate.run = m_run;
  candidate.madeBy = offer.madeBy;
  candidate.parents = offer.parents;
  candidate.program = offer.program;
  candidate.proposal = offer.number;
  SWAGE_TRY_ASSIGN(candidate.id, m_record->addCandidate({.run = m_run,
                                                         .madeBy = offer.madeBy,
                                                         .parents = offer.parents,
                                                         .genome = {},
                                                         .program = offer.program,
                                                         .sourceHash = fmt::format("{}", m_report.candidates),
                                                         .proposal = offer.number}));
  SWAGE_TRY_ASSIGN(const std::int64_t text, m_record->addText(offer.conversation));
  SWAGE_TRY(m_record->addEvent(m_run, domain::EventKind::Offer, run::provenanceJson(candidate.id, offer, text)));
  candidate.evaluation = offer.unwritten.value_or(domain::Rejected{.rule = "benchmark", .detail = "nothing is run"});
  SWAGE_TRY(m_record->setEvaluation(candidate.id, *candidate.evaluation, static_cast<double>(m_clock.elapsed()) / 1e3));
  ++m_report.candidates;
  m_pool->tell(taken.proposer, {.candidate = candidate});
  m_feed->ended(candidate);
  return {};
}

void SwarmBenchmark::tellWindow() {
  QElapsedTimer clock;
  clock.start();
  const services::SwarmReport report = m_feed->report();
  m_reportSum += static_cast<double>(clock.nsecsElapsed()) / 1e6;
  ++m_reports;
}

void SwarmBenchmark::beat() {
  const double late = std::max(0.0, static_cast<double>(m_sinceBeat.nsecsElapsed()) / 1e6 - kBeat.count());
  m_sinceBeat.restart();
  const models::TokenServer::Stats& stats = m_server->stats();
  const double elapsed = static_cast<double>(m_clock.nsecsElapsed()) / 1e9 - kWarmUpSeconds;
  if (elapsed < 0.0) {
    m_report.tokensPerSecond = static_cast<double>(stats.tokens);  // so far, to be taken away
    m_report.repliesPerSecond = static_cast<double>(stats.replies);
    return;
  }
  m_stalls.push_back(late);
  const std::int64_t queued = stats.queuedBytes;
  if (elapsed < m_options.seconds / 4.0) {
    m_report.queuedFirst = std::max(m_report.queuedFirst, queued);
  } else if (elapsed > m_options.seconds * 0.75) {
    m_report.queuedLast = std::max(m_report.queuedLast, queued);
  }
  if (elapsed >= m_options.seconds) {
    m_report.seconds = elapsed;
    m_report.tokensPerSecond = (static_cast<double>(stats.tokens) - m_report.tokensPerSecond) / elapsed;
    m_report.repliesPerSecond = (static_cast<double>(stats.replies) - m_report.repliesPerSecond) / elapsed;
    m_report.behindTokens = stats.behindTokens;
    conclude(std::nullopt);
  }
}

void SwarmBenchmark::conclude(std::optional<Error> error) {
  if (std::exchange(m_ended, true)) {
    return;
  }
  m_beat.stop();
  m_tell.stop();
  if (m_pool) {
    m_pool->stop();
  }
  if (error) {
    Q_EMIT finished(*error);
    return;
  }
  m_report.wantedTokensPerSecond = m_options.tokensPerSecond;
  m_report.stall99Ms = percentile(m_stalls, 0.99);
  m_report.stallMaxMs = percentile(m_stalls, 1.0);
  m_report.reportMs = m_reports > 0 ? m_reportSum / m_reports : 0.0;
  Q_EMIT finished(m_report);
}

}  // namespace swage::engine
