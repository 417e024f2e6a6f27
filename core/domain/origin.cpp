// SPDX-License-Identifier: Apache-2.0
#include "core/domain/origin.h"

namespace swage::domain {
namespace {

bool isAgent(std::string_view text) {
  return text.starts_with(kAgentName) && (text.size() == kAgentName.size() || text[kAgentName.size()] == '/');
}

}  // namespace

Origin originOf(const ProposerName& madeBy) {
  if (!madeBy.kind()) {
    return isAgent(madeBy.text()) ? Origin::Agent : Origin::Model;
  }
  switch (*madeBy.kind()) {
    case OperatorKind::Human: return Origin::Person;
    case OperatorKind::Coder: return Origin::Model;
    default: return Origin::Search;
  }
}

std::string_view ownName(const ProposerName& madeBy) {
  const std::string_view text = madeBy.text();
  return isAgent(text) && text.size() > kAgentName.size() ? text.substr(kAgentName.size() + 1) : text;
}

}  // namespace swage::domain
