// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/retrieval/finder.h"
#include "core/retrieval/sources.h"

namespace swage::testing {

struct LabelledQuestion {
  std::string text;
  std::vector<std::string> wanted;  // keys, or "inductor:" and the end of a file's name
  [[nodiscard]] bool needsInductor() const;
};

// questions.toml.
[[nodiscard]] std::vector<LabelledQuestion> labelledQuestions();

// The catalogue and the data sheets of this checkout; with the installed PyTorch's compiler, if it is there.
[[nodiscard]] std::vector<retrieval::Unit> ownUnits();
[[nodiscard]] std::vector<retrieval::Unit> inductorUnits();

// The share of what is wanted that is among the first five, over all questions; what is missing is appended to
// `missed`, a line for each question.
[[nodiscard]] double recallAtFive(const retrieval::Finder& finder, const std::vector<LabelledQuestion>& questions,
                                  std::string& missed);

// So many made-up pieces about kernels, in units of a hundred, the same ones each time.
[[nodiscard]] std::vector<retrieval::Unit> madeUpUnits(int pieces);

}  // namespace swage::testing
