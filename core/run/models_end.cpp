// SPDX-License-Identifier: Apache-2.0
#include "core/run/models_end.h"

#include <fmt/format.h>

namespace swage::run {

using services::Notice;

ModelsEnd modelsEnd(const RunContext& context, const ProposerPool& proposers, std::int64_t evaluations) {
  const std::int64_t most = context.spec.maxEvaluations;
  const bool areAllTried = most > 0 && evaluations >= most;
  const std::optional<Error> why = context.parts.searches || areAllTried ? std::nullopt : proposers.trouble();
  if (!why) {
    return {};
  }
  // What is correct is worth finishing, whatever became of who wrote it.
  if (context.searcher->archive().bestOverall() != nullptr) {
    if (proposers.isAnybodyLeft()) {
      return {};
    }
    return {.error = std::nullopt,
            .warning = Notice{.severity = Notice::Severity::Warning,
                              .text = "no model can be asked any more, and the search ends: " + why->message(),
                              .hint = why->hint()}};
  }
  return {
      .error = Error(why->kind(),
                     fmt::format("the search for '{}' by language models alone found no correct kernel: {}",
                                 context.bundle->task.name, why->message()),
                     fmt::format("{}{}`swage resume r{} --project {}` goes on from the record, also with another model",
                                 why->hint(), why->hint().empty() ? "" : "; ", context.run.value(),
                                 context.spec.project.string())),
      .warning = std::nullopt};
}

}  // namespace swage::run
