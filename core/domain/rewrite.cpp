// SPDX-License-Identifier: Apache-2.0
#include "core/domain/rewrite.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace swage::domain {
namespace {

constexpr auto kRules = std::to_array<RewriteRule>({
    {"reduce before product", Identity::Algebraic,
     "A sum, mean or average pool of a product's result is taken of its operands before they are multiplied"},
    {"pool before convolution", Identity::Algebraic,
     "An average pool behind a convolution of single pixels is taken of its input"},
    {"pool in convolution", Identity::Algebraic,
     "An average pool behind a convolution is part of the convolution's weights"},
    {"mean before convolution", Identity::Algebraic,
     "A mean along one axis behind a convolution is taken of its input, which leaves a convolution over the others"},
    {"mean of normalised", Identity::Algebraic,
     "A mean of normalised values is computed from the moments of each channel, without normalising the values"},
    {"fold batch norm", Identity::Algebraic,
     "A batch norm in evaluation mode is part of the weights and the bias before it"},
    {"join linear layers", Identity::Algebraic,
     "Two linear layers one after the other are one, whose weights are the product of theirs"},
    {"diagonal product", Identity::Algebraic, "A product with a diagonal matrix is a scale of each row or column"},
    {"skip triangle", Identity::Exact, "Only the triangle of a product that is kept is multiplied"},
    {"axis of one", Identity::Exact, "What is reduced along an axis of one element is that element"},
    {"double transpose", Identity::Exact, "Two transposes that undo each other are left out"},
});

}  // namespace

std::span<const RewriteRule> rewriteRules() {
  return kRules;
}

const RewriteRule* findRewriteRule(std::string_view name) {
  const auto found =
      std::find_if(kRules.begin(), kRules.end(), [name](const RewriteRule& rule) { return rule.name == name; });
  return found == kRules.end() ? nullptr : &*found;
}

bool isAlgebraic(const Rewrite& rewrite) {
  const RewriteRule* rule = findRewriteRule(rewrite.rule);
  return rule == nullptr || rule->identity == Identity::Algebraic;
}

std::string describe(const Rewrite& rewrite) {
  const RewriteRule* rule = findRewriteRule(rewrite.rule);
  std::string text(rule != nullptr ? rule->meaning : std::string_view(rewrite.rule));
  if (!rewrite.where.empty()) {
    text += fmt::format(" ({})", rewrite.where);
  }
  return text + (isAlgebraic(rewrite) ? ", algebraic" : "");
}

}  // namespace swage::domain
