// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

namespace swage {

// Runs a callable at the end of the scope unless released. Arm it before the side effect it undoes.
template <class F>
class [[nodiscard]] ScopeExit {
 public:
  explicit ScopeExit(F action) : m_action(std::move(action)) {}
  ~ScopeExit() {
    if (m_armed) {
      m_action();
    }
  }
  ScopeExit(const ScopeExit&) = delete;
  ScopeExit& operator=(const ScopeExit&) = delete;

  void release() { m_armed = false; }

 private:
  F m_action;
  bool m_armed = true;
};

}  // namespace swage
