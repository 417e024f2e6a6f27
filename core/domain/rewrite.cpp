// SPDX-License-Identifier: Apache-2.0
#include "core/domain/rewrite.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace swage::domain {
namespace {

constexpr auto kRules = std::to_array<RewriteRule>({
    {"reduce before product", Identity::Algebraic,
     "A sum, mean or average pool after a matrix product is computed on its operands, before the product"},
    {"pool before convolution", Identity::Algebraic,
     "An average pool after a 1x1 convolution is computed on its input, before the convolution"},
    {"pool in convolution", Identity::Algebraic,
     "An average pool after a convolution is folded into the convolution's weights"},
    {"mean before convolution", Identity::Algebraic,
     "A mean along one axis after a convolution is computed on its input, which leaves a convolution with fewer axes"},
    {"mean of normalised", Identity::Algebraic,
     "A mean of normalised values is computed from the mean and variance of each channel"},
    {"fold batch norm", Identity::Algebraic,
     "A batch norm in evaluation mode is folded into the weights and bias before it"},
    {"join linear layers", Identity::Algebraic, "Two linear layers in a row are merged into one"},
    {"diagonal product", Identity::Algebraic,
     "A product with a diagonal matrix is replaced by scaling rows or columns"},
    {"attention in one pass", Identity::Algebraic,
     "Two products with a softmax between them are computed as attention, whose scores are never written"},
    {"attention as products", Identity::Exact, "Attention is computed as two products with a softmax between them"},
    {"skip triangle", Identity::Exact, "Only the triangle of a product that is kept is computed"},
    {"axis of one", Identity::Exact, "A reduction along an axis of one element is left out"},
    {"double transpose", Identity::Exact, "Two transposes that undo each other are left out"},
    {"zeros in front", Identity::Exact,
     "A running sum over zeros and what is joined to them reads across the edge of the latter"},
    {"concatenate in place", Identity::Exact,
     "What is concatenated is written where the concatenation has it, and not copied there"},
    {"library convolution", Identity::Exact, "A convolution is PyTorch's own, and what follows adds its bias"},
    {"channels last", Identity::Exact,
     "A convolution is PyTorch's own, of input and weights that are copied to channels last, and its result copied "
     "back"},
    {"channels last, searched", Identity::Exact,
     "The same, by the fastest of cuDNN's kernels, which it tries out in its first call"},
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
