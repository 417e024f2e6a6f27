// SPDX-License-Identifier: Apache-2.0
#include "core/synth/node_view.h"

namespace swage::synth {

const domain::Argument* NodeView::argument(std::size_t position, std::string_view keyword) const {
  if (!keyword.empty()) {
    for (const auto& [key, value] : m_node.kwargs) {
      if (key == keyword) {
        return &value;
      }
    }
  }
  return position < m_node.args.size() ? &m_node.args[position] : nullptr;
}

bool NodeView::has(std::size_t position, std::string_view keyword) const {
  const domain::Argument* found = argument(position, keyword);
  return found != nullptr && !std::holds_alternative<std::monostate>(found->value);
}

std::optional<domain::ValueId> NodeView::tensor(std::size_t position, std::string_view keyword) const {
  const domain::Argument* found = argument(position, keyword);
  const auto* value = found != nullptr ? std::get_if<domain::ValueId>(&found->value) : nullptr;
  return value != nullptr && value->isValid() ? std::optional(*value) : std::nullopt;
}

std::optional<double> NodeView::number(std::size_t position, std::string_view keyword) const {
  const domain::Argument* found = argument(position, keyword);
  if (found == nullptr) {
    return std::nullopt;
  }
  if (const auto* real = std::get_if<double>(&found->value)) {
    return *real;
  }
  if (const auto* whole = std::get_if<std::int64_t>(&found->value)) {
    return static_cast<double>(*whole);
  }
  if (const auto* truth = std::get_if<bool>(&found->value)) {
    return *truth ? 1.0 : 0.0;
  }
  return std::nullopt;
}

std::optional<std::int64_t> NodeView::integer(std::size_t position, std::string_view keyword) const {
  const domain::Argument* found = argument(position, keyword);
  const auto* whole = found != nullptr ? std::get_if<std::int64_t>(&found->value) : nullptr;
  return whole != nullptr ? std::optional(*whole) : std::nullopt;
}

std::optional<bool> NodeView::flag(std::size_t position, std::string_view keyword) const {
  const domain::Argument* found = argument(position, keyword);
  const auto* truth = found != nullptr ? std::get_if<bool>(&found->value) : nullptr;
  return truth != nullptr ? std::optional(*truth) : std::nullopt;
}

std::optional<std::string_view> NodeView::text(std::size_t position, std::string_view keyword) const {
  const domain::Argument* found = argument(position, keyword);
  const auto* string = found != nullptr ? std::get_if<std::string>(&found->value) : nullptr;
  return string != nullptr ? std::optional<std::string_view>(*string) : std::nullopt;
}

std::optional<std::vector<std::int64_t>> NodeView::integers(std::size_t position, std::string_view keyword) const {
  const domain::Argument* found = argument(position, keyword);
  if (found == nullptr) {
    return std::nullopt;
  }
  if (const auto* whole = std::get_if<std::int64_t>(&found->value)) {
    return std::vector<std::int64_t>{*whole};
  }
  const auto* list = std::get_if<domain::ArgumentList>(&found->value);
  if (list == nullptr) {
    return std::nullopt;
  }
  std::vector<std::int64_t> items;
  for (const domain::Argument& item : *list) {
    const auto* whole = std::get_if<std::int64_t>(&item.value);
    if (whole == nullptr) {
      return std::nullopt;
    }
    items.push_back(*whole);
  }
  return items;
}

domain::ValueId NodeView::result(std::size_t index) const {
  return index < m_node.outputs.size() ? m_node.outputs[index] : domain::ValueId();
}

}  // namespace swage::synth
