// SPDX-License-Identifier: Apache-2.0
#include "core/domain/checks.h"

#include <algorithm>

#include <fmt/format.h>

namespace swage::domain {
namespace {

bool isWordCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Which values of a graph have been defined while walking through it.
class Definitions {
 public:
  explicit Definitions(std::size_t count) : m_defined(count, false) {}

  [[nodiscard]] std::string define(ValueId id, std::string_view what) {
    if (!isInRange(id)) {
      return fmt::format("{} has the id {}, but there are {} values", what, id.value(), m_defined.size());
    }
    if (m_defined[index(id)]) {
      return fmt::format("{} defines value {} a second time", what, id.value());
    }
    m_defined[index(id)] = true;
    return {};
  }

  [[nodiscard]] std::string use(ValueId id, std::string_view what) const {
    if (!isInRange(id)) {
      return fmt::format("{} uses the id {}, but there are {} values", what, id.value(), m_defined.size());
    }
    if (!m_defined[index(id)]) {
      return fmt::format("{} uses value {} before it is defined", what, id.value());
    }
    return {};
  }

 private:
  [[nodiscard]] static std::size_t index(ValueId id) { return static_cast<std::size_t>(id.value()); }
  [[nodiscard]] bool isInRange(ValueId id) const { return id.isValid() && index(id) < m_defined.size(); }

  std::vector<bool> m_defined;
};

std::string findNodeDefect(const Node& node, std::size_t position, Definitions& definitions) {
  const std::string what = fmt::format("node {} ({})", position, node.op);
  if (!isOperatorName(node.op)) {
    return fmt::format("node {} has no operator name of the form namespace.name.overload", position);
  }
  for (const ValueId id : inputsOf(node)) {
    if (std::string defect = definitions.use(id, what); !defect.empty()) {
      return defect;
    }
  }
  for (const ValueId id : node.outputs) {
    if (!id.isValid()) {
      continue;
    }
    if (std::string defect = definitions.define(id, what); !defect.empty()) {
      return defect;
    }
  }
  return {};
}

std::string findOutputDefect(const Graph& graph, const Definitions& definitions) {
  bool userSeen = false;
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    const GraphOutput& output = graph.outputs[i];
    if (std::string defect = definitions.use(output.value, fmt::format("output {}", i)); !defect.empty()) {
      return defect;
    }
    if (output.kind == OutputKind::User) {
      userSeen = true;
      continue;
    }
    if (userSeen) {
      return fmt::format("output {} is a buffer mutation but comes after a user output", i);
    }
    const bool known = std::any_of(graph.inputs.begin(), graph.inputs.end(), [&](const GraphInput& input) {
      return input.kind == InputKind::Buffer && input.name == output.name;
    });
    if (!known) {
      return fmt::format("output {} mutates the buffer '{}', which is not an input", i, output.name);
    }
  }
  return {};
}

}  // namespace

std::string findDefect(const TensorType& type) {
  if (type.shape.size() > kMaxRank || type.shape.size() != type.strides.size()) {
    return fmt::format("has {} sizes and {} strides; they must be as many, and at most {}", type.shape.size(),
                       type.strides.size(), kMaxRank);
  }
  std::int64_t count = 1;
  std::int64_t span = 1;
  for (std::size_t i = 0; i < type.shape.size(); ++i) {
    const std::int64_t size = type.shape[i];
    const std::int64_t stride = type.strides[i];
    if (size < 0 || stride < 0) {
      return fmt::format("has the negative size or stride {} in dimension {}", size < 0 ? size : stride, i);
    }
    const std::int64_t factor = std::max<std::int64_t>(size, 1);
    if (count > kMaxElements / factor || (stride > 0 && factor - 1 > (kMaxElements - span) / stride)) {
      return fmt::format("has more than {} elements", kMaxElements);
    }
    count *= factor;
    span += (factor - 1) * stride;
  }
  return {};
}

std::string findDefect(const Graph& graph) {
  for (std::size_t i = 0; i < graph.values.size(); ++i) {
    if (const std::string defect = findDefect(graph.values[i]); !defect.empty()) {
      return fmt::format("value {} {}", i, defect);
    }
  }
  Definitions definitions(graph.values.size());
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    if (std::string defect = definitions.define(graph.inputs[i].value, fmt::format("input {}", i)); !defect.empty()) {
      return defect;
    }
  }
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (std::string defect = findNodeDefect(graph.nodes[i], i, definitions); !defect.empty()) {
      return defect;
    }
  }
  return findOutputDefect(graph, definitions);
}

bool isIdentifier(std::string_view text) {
  constexpr std::size_t kMaxLength = 512;
  return !text.empty() && text.size() <= kMaxLength && !(text.front() >= '0' && text.front() <= '9') &&
         std::all_of(text.begin(), text.end(), isWordCharacter);
}

bool isOperatorName(std::string_view text) {
  const std::size_t first = text.find('.');
  const std::size_t last = text.rfind('.');
  return first != std::string_view::npos && first < last && isIdentifier(text.substr(0, first)) &&
         isIdentifier(text.substr(first + 1, last - first - 1)) && isIdentifier(text.substr(last + 1));
}

}  // namespace swage::domain
