// SPDX-License-Identifier: Apache-2.0
#include "app/compiler/synthesis_server.h"

#include <memory>
#include <utility>

#include "app/compiler/connection.h"
#include "core/base/log.h"
#include "core/patterns/catalogue.h"
#include "core/synth/synthesizer.h"

namespace swage::compiler {
namespace {

using Call = wire::Synthesise::Call;

class Answers {
 public:
  [[nodiscard]] wire::Synthesised operator()(const wire::OpenSynthesis& request) {
    wire::Synthesised answer;
    answer.request = request.request;
    answer.error = open(request);
    return answer;
  }

  [[nodiscard]] wire::Synthesised operator()(const wire::Synthesise& request) const {
    wire::Synthesised answer;
    answer.request = request.request;
    answer.randomState = request.randomState;
    if (!m_synthesizer) {
      answer.error = Error(ErrorKind::Protocol, "no graph was given before the first call");
      return answer;
    }
    Random random(request.randomState);
    fill(answer, request, random);
    for (const domain::Genome& genome : answer.genomes) {
      answer.seconds.push_back(m_synthesizer->estimate(genome).value_or(0.0));
    }
    answer.randomState = random.state();
    return answer;
  }

 private:
  std::optional<Error> open(const wire::OpenSynthesis& request) {
    auto catalogue = patterns::Catalogue::load(request.patterns);
    if (!catalogue) {
      return std::move(catalogue).error();
    }
    auto made = synth::Synthesizer::create(request.graph, request.device, *catalogue);
    if (!made) {
      return std::move(made).error();
    }
    m_synthesizer = std::move(*made);
    return std::nullopt;
  }

  void fill(wire::Synthesised& answer, const wire::Synthesise& request, Random& random) const {
    switch (request.call) {
      case Call::Fresh: answer.genomes = {m_synthesizer->fresh(random)}; return;
      case Call::Seeds: answer.genomes = m_synthesizer->seeds(); return;
      case Call::Neighbours: answer.genomes = m_synthesizer->neighbours(request.genome); return;
      case Call::Estimate: answer.genomes = {request.genome}; return;
      case Call::CoveredNodes: answer.nodes = m_synthesizer->coveredNodes(); return;
      case Call::ReachableCells: {
        const search::ReachableCells cells = m_synthesizer->reachableCells();
        for (int index = 0; index < domain::kCellCount; ++index) {
          if (cells[static_cast<std::size_t>(index)]) {
            answer.cells.push_back(index);
          }
        }
        return;
      }
      case Call::Vary: {
        if (auto varied = m_synthesizer->vary(request.kind, request.genome, request.other ? &*request.other : nullptr,
                                              request.aim ? &*request.aim : nullptr, random)) {
          answer.genomes = {std::move(*varied)};
        }
        return;
      }
      case Call::Realise: {
        auto program = m_synthesizer->realise(request.genome);
        if (program) {
          answer.program = std::move(*program);
        } else {
          answer.error = std::move(program).error();
        }
        return;
      }
    }
  }

  std::unique_ptr<synth::Synthesizer> m_synthesizer;
};

}  // namespace

wire::ExitCode serveSynthesis(int input, int output, const SynthesisObserver& observer) {
  CompilerConnection connection(input, output);
  if (const auto end = connection.greet()) {
    return *end;
  }
  Answers answers;
  for (;;) {
    const auto message = connection.next();
    if (!message) {
      log::error("{}", message.error().message());
      return wire::ExitCode::ProtocolFailed;
    }
    if (!*message || std::holds_alternative<wire::Shutdown>(**message)) {
      return wire::ExitCode::Ok;
    }
    if (observer) {
      observer(**message);
    }
    std::optional<wire::ExitCode> end = wire::ExitCode::ProtocolFailed;
    if (const auto* opened = std::get_if<wire::OpenSynthesis>(&**message)) {
      end = connection.send(answers(*opened));
    } else if (const auto* call = std::get_if<wire::Synthesise>(&**message)) {
      end = connection.send(answers(*call));
    } else {
      log::error("got a frame that is not for a synthesiser");
    }
    if (end) {
      return *end;
    }
  }
}

}  // namespace swage::compiler
