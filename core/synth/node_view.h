// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/domain/graph.h"

namespace swage::synth {

// Typed reading of a node's arguments, by position or by keyword. Absent and wrong types read as no value.
class NodeView {
 public:
  NodeView(const domain::Node& node, const std::vector<domain::TensorType>& values) : m_node(node), m_values(values) {}

  [[nodiscard]] const domain::Node& node() const { return m_node; }
  [[nodiscard]] std::optional<domain::ValueId> tensor(std::size_t position, std::string_view keyword = {}) const;
  [[nodiscard]] std::optional<double> number(std::size_t position, std::string_view keyword = {}) const;
  [[nodiscard]] std::optional<std::int64_t> integer(std::size_t position, std::string_view keyword = {}) const;
  [[nodiscard]] std::optional<bool> flag(std::size_t position, std::string_view keyword = {}) const;
  [[nodiscard]] std::optional<std::string_view> text(std::size_t position, std::string_view keyword = {}) const;
  // A list of integers; a single integer reads as a list of one.
  [[nodiscard]] std::optional<std::vector<std::int64_t>> integers(std::size_t position,
                                                                  std::string_view keyword = {}) const;
  // Whether the argument is there at all and not None.
  [[nodiscard]] bool has(std::size_t position, std::string_view keyword = {}) const;

  [[nodiscard]] domain::ValueId result(std::size_t index = 0) const;
  [[nodiscard]] const domain::TensorType& type(domain::ValueId value) const {
    return m_values[static_cast<std::size_t>(value.value())];
  }

 private:
  [[nodiscard]] const domain::Argument* argument(std::size_t position, std::string_view keyword) const;

  const domain::Node& m_node;
  const std::vector<domain::TensorType>& m_values;
};

}  // namespace swage::synth
