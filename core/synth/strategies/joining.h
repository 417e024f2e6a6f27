// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/synth/emit/dialect.h"

namespace swage::synth {

// How results are joined, the first in front.
class Joining {
 public:
  Joining(const Dialect& dialect, FoldKind kind, Compute type);

  [[nodiscard]] const std::string& type() const { return m_type; }
  // Changes nothing that it is joined with.
  [[nodiscard]] const std::string& neutral() const { return m_neutral; }
  [[nodiscard]] std::string operator()(const std::string& first, const std::string& second) const;

 private:
  FoldKind m_kind;
  std::string m_type;
  std::string m_neutral;
};

}  // namespace swage::synth
