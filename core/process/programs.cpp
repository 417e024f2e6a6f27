// SPDX-License-Identifier: Apache-2.0
#include "core/process/programs.h"

#include <QThread>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "core/process/remote_synthesizer.h"

namespace swage::process {

Programs Programs::standard(const Locations& locations) {
  Programs programs;
  programs.bridge = locations.bridgeEnvironment();
  programs.workerCommand = [worker = locations.worker.string()](domain::DeviceKind target) {
    return LaunchCommand{
        .program = worker,
        .arguments = {"--device", target == domain::DeviceKind::Cuda ? "cuda:0" : "cpu"},
        .environment = {{"CUDA_DEVICE_ORDER", "PCI_BUS_ID"}},
    };
  };
  programs.compilerCommand.program = locations.compiler.string();
  programs.sanitizer = locations.sanitizer.string();
  programs.replay = locations.replay.string();
  if (!locations.nvrtc.empty()) {
    programs.compilerCommand.arguments = {"--nvrtc", locations.nvrtc.string()};
  }
  if (!locations.cudaIncludes.empty()) {
    programs.compilerCommand.arguments.insert(programs.compilerCommand.arguments.end(),
                                              {"--cuda-include", locations.cudaIncludes.string()});
  }
  if (const char* sandbox = std::getenv("SWAGE_SANDBOX");  // NOLINT(concurrency-mt-unsafe): nothing sets it later
      sandbox != nullptr && *sandbox != '\0' && std::string_view(sandbox) != "auto") {
    programs.sandbox = sandbox;
    programs.compilerCommand.arguments.insert(programs.compilerCommand.arguments.end(), {"--sandbox", sandbox});
  }
  programs.makeSynthesizer = [synthesis = RemoteSynthesis{.command = {locations.compiler.string(), {"--synthesis"}, {}},
                                                          .patterns = locations.patterns}](
                                 const domain::Graph& graph, const domain::DeviceInfo& device) {
    return makeRemoteSynthesizer(synthesis, graph, device);
  };
  return programs;
}

int Programs::compilersFor(domain::DeviceKind target) const {
  if (compilers > 0) {
    return compilers;
  }
  constexpr int kFew = 4;
  const int cores = std::max(1, QThread::idealThreadCount());
  return target == domain::DeviceKind::Cuda && cores > kFew ? cores - 2 : cores;
}

}  // namespace swage::process
