// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/base/result.h"
#include "core/domain/candidate.h"
#include "core/models/chat.h"

namespace swage::models {

// What a model wrote, in the form of resources/prompts/form.md.
struct Answer {
  domain::Program program;
  std::string intent;  // its own words, in one line; may be empty
};

// Reads a reply strictly: exactly one block with source and one with the plan, no unknown members, ids and sizes in
// range, a plan that is about the task's own tensors. Nothing in it is looked up, opened or run. The error, of kind
// InvalidInput, is for the model to read.
[[nodiscard]] Result<Answer> readAnswer(const ChatReply& reply, domain::Language language, const domain::Graph& graph);

}  // namespace swage::models
