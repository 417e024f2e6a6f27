// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <utility>

#include "core/run/proposer.h"

namespace swage::run {

// A person, or who works like one, as a proposer: offers what was submitted, in its order.
class EditProposer final : public Proposer {
  Q_OBJECT

 public:
  explicit EditProposer(domain::ProposerName name = domain::OperatorKind::Human, QObject* parent = nullptr)
      : Proposer(std::move(name), parent) {}

  void submit(Offer edit) {
    m_edits.push_back(std::move(edit));
    Q_EMIT awoke();
  }
  void ask() override {
    if (m_edits.empty()) {
      Q_EMIT passed(Pass::UntilNews);
      return;
    }
    const Offer edit = std::move(m_edits.front());
    m_edits.pop_front();
    Q_EMIT offered(edit);
  }

 private:
  std::deque<Offer> m_edits;
};

}  // namespace swage::run
