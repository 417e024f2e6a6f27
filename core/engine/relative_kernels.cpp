// SPDX-License-Identifier: Apache-2.0
#include "core/engine/relative_kernels.h"

#include <chrono>
#include <future>
#include <map>
#include <memory>
#include <utility>

#include "core/domain/record/winner.h"
#include "core/store/record.h"

namespace swage::engine {
namespace {

// In one project; better than `best`.
std::optional<models::RelativeFacts> betterIn(const std::filesystem::path& project, const std::string& task,
                                              const domain::DeviceInfo& device, double best) {
  const auto record = store::Record::open(project, store::Record::Mode::ReadOnly);
  const auto runs = record ? record->runs() : Result<std::vector<store::RunRow>>(record.error());
  if (!runs) {
    return std::nullopt;
  }
  std::optional<models::RelativeFacts> found;
  for (const store::RunRow& run : *runs) {
    const domain::CandidateId winner = domain::winnerOf(run);
    const bool isRelative = run.taskId == task && run.device.architecture != device.architecture &&
                            run.status == store::RunStatus::Finished && winner.isValid() && winner != run.own;
    if (!isRelative || run.bestSpeedup.value <= best) {
      continue;
    }
    if (const auto candidate = record->candidate(winner); candidate && !candidate->program.source.empty()) {
      best = run.bestSpeedup.value;
      found = models::RelativeFacts{candidate->program.language, run.deviceName, best, candidate->program.source};
    }
  }
  return found;
}

}  // namespace

std::optional<models::RelativeFacts> relativeIn(const std::vector<std::filesystem::path>& projects,
                                                const std::string& task, const domain::DeviceInfo& device) {
  std::optional<models::RelativeFacts> best;
  for (const std::filesystem::path& project : projects) {
    if (auto found = betterIn(project, task, device, best ? best->speedup : -1.0)) {
      best = std::move(found);
    }
  }
  return best;
}

models::RelativeFor relativesMeanwhile(std::function<std::vector<std::filesystem::path>()> projects) {
  using Search = std::shared_future<std::optional<models::RelativeFacts>>;
  const auto begun = std::make_shared<std::map<std::pair<std::string, std::string>, Search>>();
  return [projects = std::move(projects), begun](const std::string& task, const domain::DeviceInfo& device) {
    Search& search = (*begun)[{task, device.architecture}];
    if (!search.valid()) {
      search =
          std::async(std::launch::async, [projects, task, device] { return relativeIn(projects(), task, device); });
    }
    const bool hasEnded = search.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
    return hasEnded ? search.get() : std::nullopt;
  };
}

}  // namespace swage::engine
