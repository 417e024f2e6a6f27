// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/domain/task.h"
#include "core/process/launch_command.h"
#include "core/synth/synthesizer.h"

namespace swage::testing {

[[nodiscard]] process::LaunchCommand fakeWorker(const std::string& behaviour, std::vector<std::string> more = {});
[[nodiscard]] process::LaunchCommand fakeCompiler(const std::string& behaviour, std::vector<std::string> more = {});

// A task of one operator, and its bundle on disk.
[[nodiscard]] domain::Task tinyTask();
[[nodiscard]] std::filesystem::path writeTinyBundle(const std::filesystem::path& folder);
// A plan with one kernel whose first argument is `number`: what the fake worker takes its time from.
[[nodiscard]] domain::LaunchPlan planWithNumber(int number);

// A space of genomes of one region with the parameters `n` in [1, size] and `tag`. The program of a genome only depends
// on n, so genomes that differ in tag are source duplicates. The fake worker needs n microseconds, and 13 is wrong.
// n == 7 does not fit the graph.
class FakeSynthesizer final : public synth::Synthesizer {
 public:
  FakeSynthesizer(int size, domain::DeviceKind device) : m_size(size), m_device(device) {}

  [[nodiscard]] domain::Genome fresh(Random& random) const override;
  [[nodiscard]] std::vector<domain::Genome> seeds() const override;
  [[nodiscard]] std::optional<domain::Genome> vary(domain::OperatorKind kind, const domain::Genome& genome,
                                                   const domain::Genome* other, const domain::Cell* aim,
                                                   Random& random) const override;
  [[nodiscard]] std::vector<domain::Genome> neighbours(const domain::Genome& genome) const override;
  [[nodiscard]] std::vector<double> features(const domain::Genome& genome) const override;
  [[nodiscard]] Result<domain::Program> realise(const domain::Genome& genome) const override;
  [[nodiscard]] std::vector<int> coveredNodes() const override { return {0}; }
  [[nodiscard]] search::ReachableCells reachableCells() const override { return search::everyCell(); }

 private:
  [[nodiscard]] static domain::Genome genomeOf(int number, int tag);
  int m_size;
  domain::DeviceKind m_device;
};

}  // namespace swage::testing
