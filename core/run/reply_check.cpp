// SPDX-License-Identifier: Apache-2.0
#include "core/run/reply_check.h"

#include <algorithm>

#include "core/models/answer.h"
#include "core/models/clean_text.h"
#include "core/models/wire_format.h"

namespace swage::run {

Result<services::ReplyCheck> readReply(const std::string& text, domain::Language language, const domain::Graph& graph) {
  models::ChatReply reply;
  reply.text = models::cleanText(text, models::ReplyCollector::kMaxText);
  SWAGE_TRY_ASSIGN(const models::Answer answer, models::readAnswer(reply, language, graph));
  services::ReplyCheck check{.intent = answer.intent, .kernels = {}, .sourceLines = 0};
  for (const domain::PlanStep& step : answer.program.plan.steps) {
    if (const auto* launch = std::get_if<domain::KernelStep>(&step)) {
      check.kernels.push_back(launch->entry);
    }
  }
  const std::string& source = answer.program.source;
  check.sourceLines = static_cast<int>(std::count(source.begin(), source.end(), '\n'));
  return check;
}

}  // namespace swage::run
