// SPDX-License-Identifier: Apache-2.0
// What a session is made of when no test replaces anything.
#include <QThread>

#include <algorithm>

#include "core/engine/remote_synthesizer.h"
#include "core/engine/session.h"

namespace swage::engine {

SessionParts SessionParts::standard(const Locations& locations) {
  SessionParts parts;
  parts.bridge = locations.bridgeEnvironment();
  parts.workerCommand = [worker = locations.worker.string()](domain::Target target) {
    return LaunchCommand{
        .program = worker,
        .arguments = {"--device", target == domain::Target::Cuda ? "cuda:0" : "cpu"},
        .environment = {{"CUDA_DEVICE_ORDER", "PCI_BUS_ID"}},
    };
  };
  parts.profiledTargets = {domain::Target::Cuda};
  parts.compilerCommand.program = locations.compiler.string();
  parts.sanitizer = locations.sanitizer.string();
  parts.replay = locations.replay.string();
  if (!locations.nvrtc.empty()) {
    parts.compilerCommand.arguments = {"--nvrtc", locations.nvrtc.string()};
  }
  if (!locations.cudaIncludes.empty()) {
    parts.compilerCommand.arguments.insert(parts.compilerCommand.arguments.end(),
                                           {"--cuda-include", locations.cudaIncludes.string()});
  }
  parts.selfTest = SelfTestPolicy{.corpus = locations.selfTest, .verdicts = stateFolder() / "selftest", .skip = false};
  parts.makeSynthesizer = [synthesis = RemoteSynthesis{.command = {locations.compiler.string(), {"--synthesis"}, {}},
                                                       .patterns = locations.patterns}](
                              const domain::Graph& graph, const domain::DeviceInfo& device) {
    return makeRemoteSynthesizer(synthesis, graph, device);
  };
  return parts;
}

int SessionParts::compilersFor(domain::Target target) const {
  if (compilers > 0) {
    return compilers;
  }
  constexpr int kFew = 4;
  const int cores = std::max(1, QThread::idealThreadCount());
  return target == domain::Target::Cuda && cores > kFew ? cores - 2 : cores;
}

int SessionParts::sanitizersAtOnce() const {
  constexpr int kMost = 4;  // with which it was measured
  return sanitizers > 0 ? sanitizers : std::clamp(QThread::idealThreadCount() / 2, 1, kMost);
}

SelfTest::Options SessionParts::selfTestOptions(domain::Target target) const {
  SelfTest::Options options;
  options.worker = workerCommand(target);
  options.compiler = compilerCommand;
  options.compilers = compilersFor(target);
  options.stopGrace = stopGrace;
  return options;
}

}  // namespace swage::engine
