// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace swage::testing {

// A variable of the environment, until this object goes. Not while other threads read the environment.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const std::string& value) : m_name(name) {
    if (const char* before = std::getenv(name); before != nullptr) {
      m_before = before;
    }
    ::setenv(name, value.c_str(), 1);
  }
  ~ScopedVariable() {
    if (m_before) {
      ::setenv(m_name, m_before->c_str(), 1);
    } else {
      ::unsetenv(m_name);
    }
  }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;
  ScopedVariable(ScopedVariable&&) = delete;
  ScopedVariable& operator=(ScopedVariable&&) = delete;

 private:
  const char* m_name;
  std::optional<std::string> m_before;
};

}  // namespace swage::testing
