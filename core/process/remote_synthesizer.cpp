// SPDX-License-Identifier: Apache-2.0
#include "core/process/remote_synthesizer.h"

#include <algorithm>
#include <list>
#include <map>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "core/base/log.h"
#include "core/process/synthesis_process.h"

namespace swage::process {
namespace {

using domain::Genome;
using Call = wire::Synthesise::Call;

// Local search asks for the neighbours of the same few elites again and again.
constexpr std::size_t kKeptNeighbourhoods = 32;
// In a row, without an answer between them: then the process is not to blame for one call.
constexpr int kMaxLosses = 25;

class RemoteSynthesizer final : public synth::Synthesizer {
 public:
  RemoteSynthesizer(RemoteSynthesis options, const domain::Graph& graph, const domain::DeviceInfo& device)
      : m_options(std::move(options)), m_open{0, graph, device, m_options.patterns.string()} {}

  // Starts the process, so that what is wrong with it is known before the first candidate.
  [[nodiscard]] Result<> open() {
    const std::lock_guard lock(m_mutex);
    if (const auto opened = openProcess(); !opened) {
      return opened.error();
    }
    return {};
  }

  [[nodiscard]] Genome fresh(Random& random) const override {
    auto answer = ask({.call = Call::Fresh}, &random);
    return answer && !answer->genomes.empty() ? std::move(answer->genomes.front()) : Genome();
  }
  [[nodiscard]] std::vector<Genome> seeds() const override {
    auto answer = ask({.call = Call::Seeds}, nullptr);
    return answer ? std::move(answer->genomes) : std::vector<Genome>();
  }
  [[nodiscard]] std::optional<Genome> vary(domain::OperatorKind kind, const Genome& genome, const Genome* other,
                                           const domain::Cell* aim, Random& random) const override {
    auto answer = ask({.call = Call::Vary,
                       .genome = genome,
                       .other = other != nullptr ? std::optional(*other) : std::nullopt,
                       .aim = aim != nullptr ? std::optional(*aim) : std::nullopt,
                       .kind = kind},
                      &random);
    return answer && !answer->genomes.empty() ? std::optional(std::move(answer->genomes.front())) : std::nullopt;
  }
  [[nodiscard]] std::vector<double> features(const Genome& genome) const override { return synth::featuresOf(genome); }

  [[nodiscard]] std::vector<Genome> neighbours(const Genome& genome) const override;
  [[nodiscard]] std::optional<double> estimate(const Genome& genome) const override;
  [[nodiscard]] Result<domain::Program> realise(const Genome& genome) const override;
  [[nodiscard]] std::vector<int> coveredNodes() const override {
    auto answer = ask({.call = Call::CoveredNodes}, nullptr);
    return answer ? std::move(answer->nodes) : std::vector<int>();
  }
  [[nodiscard]] search::ReachableCells reachableCells() const override {
    const auto answer = ask({.call = Call::ReachableCells}, nullptr);
    if (!answer) {
      return search::everyCell();
    }
    search::ReachableCells cells{};
    for (const int cell : answer->cells) {
      cells[static_cast<std::size_t>(cell)] = true;
    }
    return cells;
  }

 private:
  // The answer to a call; what ended the process is a warning, because the caller has no way to pass it on.
  [[nodiscard]] std::optional<wire::Synthesised> ask(wire::Synthesise request, Random* random) const;
  [[nodiscard]] Result<wire::Synthesised> call(wire::Synthesise request) const;
  [[nodiscard]] Result<> openProcess() const;
  [[nodiscard]] Result<wire::Synthesised> answered(const wire::Message& message) const;
  [[nodiscard]] Error lost(const SynthesisProcess::Loss& loss) const;

  RemoteSynthesis m_options;
  mutable wire::OpenSynthesis m_open;
  mutable std::mutex m_mutex;
  mutable std::unique_ptr<SynthesisProcess> m_process;
  mutable std::uint64_t m_request = 0;
  mutable int m_losses = 0;
  mutable std::map<std::string, double> m_estimates;                           // by text: they come with the genomes
  mutable std::list<std::pair<Genome, std::vector<Genome>>> m_neighbourhoods;  // the last asked for first
};

Error RemoteSynthesizer::lost(const SynthesisProcess::Loss& loss) const {
  m_process.reset();
  ++m_losses;
  return {ErrorKind::Internal, "the synthesiser " + loss.how, "This is a fault of Swage: please report it."};
}

Result<wire::Synthesised> RemoteSynthesizer::answered(const wire::Message& message) const {
  const auto* answer = std::get_if<wire::Synthesised>(&message);
  if (answer == nullptr || answer->request != m_request) {
    return lost({"gave the answer to another request"});
  }
  m_losses = 0;
  for (std::size_t i = 0; i < std::min(answer->genomes.size(), answer->seconds.size()); ++i) {
    m_estimates[domain::canonicalText(answer->genomes[i])] = answer->seconds[i];
  }
  return *answer;
}

Result<> RemoteSynthesizer::openProcess() const {
  if (m_process) {
    return {};
  }
  auto started = SynthesisProcess::start(m_options.command, m_options.startLimit);
  if (!started) {
    return Error(ErrorKind::Environment, "the synthesiser " + started.error().how, "run `swage doctor`");
  }
  m_process = std::move(*started);
  m_open.request = ++m_request;
  const int losses = m_losses;
  const auto message = m_process->ask(m_open, m_options.startLimit);
  if (!message) {
    return lost(message.error());
  }
  SWAGE_TRY_ASSIGN(const wire::Synthesised answer, answered(*message));
  m_losses = losses;  // a graph that is taken in is no call that has worked
  return answer.error ? Result<>(*answer.error) : Result<>();
}

Result<wire::Synthesised> RemoteSynthesizer::call(wire::Synthesise request) const {
  const std::lock_guard lock(m_mutex);
  if (m_losses >= kMaxLosses) {
    return Error(ErrorKind::Environment, fmt::format("the synthesiser ended {} times in a row", m_losses),
                 "This is a fault of Swage: please report it.");
  }
  SWAGE_TRY(openProcess());
  request.request = ++m_request;
  const auto message = m_process->ask(request, m_options.callLimit);
  if (!message) {
    return lost(message.error());
  }
  return answered(*message);
}

std::optional<wire::Synthesised> RemoteSynthesizer::ask(wire::Synthesise request, Random* random) const {
  if (random != nullptr) {
    request.randomState = random->state();
  }
  const std::string_view what = name(request.call);
  auto answer = call(std::move(request));
  if (!answer) {
    log::warn("{} ({})", answer.error().message(), what);
    if (random != nullptr) {
      static_cast<void>(random->next());  // the next try is another one
    }
    return std::nullopt;
  }
  if (random != nullptr) {
    *random = Random(answer->randomState);
  }
  return std::move(*answer);
}

std::vector<Genome> RemoteSynthesizer::neighbours(const Genome& genome) const {
  {
    const std::lock_guard lock(m_mutex);
    for (auto known = m_neighbourhoods.begin(); known != m_neighbourhoods.end(); ++known) {
      if (known->first == genome) {
        m_neighbourhoods.splice(m_neighbourhoods.begin(), m_neighbourhoods, known);
        return known->second;
      }
    }
  }
  auto answer = ask({.call = Call::Neighbours, .genome = genome}, nullptr);
  if (!answer) {
    return {};
  }
  const std::lock_guard lock(m_mutex);
  m_neighbourhoods.emplace_front(genome, std::move(answer->genomes));
  if (m_neighbourhoods.size() > kKeptNeighbourhoods) {
    m_neighbourhoods.pop_back();
  }
  return m_neighbourhoods.front().second;
}

std::optional<double> RemoteSynthesizer::estimate(const Genome& genome) const {
  const auto known = [&]() -> std::optional<double> {
    const std::lock_guard lock(m_mutex);
    const auto found = m_estimates.find(domain::canonicalText(genome));
    return found == m_estimates.end() ? std::nullopt : std::optional(found->second);
  };
  std::optional<double> seconds = known();
  if (!seconds && ask({.call = Call::Estimate, .genome = genome}, nullptr)) {
    seconds = known();
  }
  return seconds.value_or(0.0) > 0.0 ? seconds : std::nullopt;
}

Result<domain::Program> RemoteSynthesizer::realise(const Genome& genome) const {
  SWAGE_TRY_ASSIGN(wire::Synthesised answer, call({.call = Call::Realise, .genome = genome}));
  if (answer.error) {
    return std::move(*answer.error);
  }
  if (!answer.program) {
    return Error(ErrorKind::Internal, "the synthesiser answered without a program");
  }
  return std::move(*answer.program);
}

}  // namespace

Result<std::unique_ptr<synth::Synthesizer>> makeRemoteSynthesizer(const RemoteSynthesis& options,
                                                                  const domain::Graph& graph,
                                                                  const domain::DeviceInfo& device) {
  auto made = std::make_unique<RemoteSynthesizer>(options, graph, device);
  SWAGE_TRY(made->open());
  return std::unique_ptr<synth::Synthesizer>(std::move(made));
}

}  // namespace swage::process
