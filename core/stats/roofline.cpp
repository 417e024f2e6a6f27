// SPDX-License-Identifier: Apache-2.0
#include "core/stats/roofline.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <vector>

#include "core/domain/aten.h"

namespace swage::stats {
namespace {

using domain::AtenWork;
using domain::Node;
using domain::ScalarType;
using domain::TensorType;
using domain::ValueId;

constexpr double kReadGain = 1.2;
constexpr double kCpuGain = 2.0;
constexpr double kCpuCaches = 4.0;

std::size_t at(ValueId id) {
  return static_cast<std::size_t>(id.value());
}

double product(const domain::Shape& shape, std::size_t from = 0) {
  double result = 1.0;
  for (std::size_t i = from; i < shape.size(); ++i) {
    result *= static_cast<double>(shape[i]);
  }
  return result;
}

// In memory: an expanded dimension is there once.
double storedBytes(const TensorType& type) {
  double elements = 1.0;
  for (std::size_t i = 0; i < type.shape.size(); ++i) {
    elements *= type.strides[i] == 0 && type.shape[i] > 0 ? 1.0 : static_cast<double>(type.shape[i]);
  }
  return elements * static_cast<double>(domain::byteSize(type.dtype));
}

bool isExpanded(const TensorType& type) {
  for (std::size_t i = 0; i < type.shape.size(); ++i) {
    if (type.strides[i] == 0 && type.shape[i] > 1) {
      return true;
    }
  }
  return false;
}

struct Work {
  double operations = 0.0;
  double leastOperations = 0.0;  // that no algorithm saves
};

class GraphWork {
 public:
  explicit GraphWork(const domain::Graph& graph)
      : m_graph(graph),
        m_dense(graph.values.size(), false),
        m_needed(graph.values.size(), false),
        m_plain(graph.values.size(), false) {
    findDense();
    findNeeded();
  }

  [[nodiscard]] double bytes() const {
    return inputBytes([](ValueId) { return true; }) + outputBytes();
  }
  [[nodiscard]] double neededInputBytes() const {
    return inputBytes([this](ValueId id) { return m_needed[at(id)]; });
  }
  [[nodiscard]] double outputBytes() const {
    double bytes = 0.0;
    for (const ValueId id : m_outputs) {
      bytes += storedBytes(m_graph.type(id));
    }
    return bytes;
  }

  // Calls back with the work of each product, its type, and whether its operations cannot be moved elsewhere.
  template <class Visit>
  void forEachProduct(const Visit& visit) const {
    for (const Node& node : m_graph.nodes) {
      if (domain::atenWork(node.op) != AtenWork::Product || node.outputs.empty() || !node.outputs[0].isValid()) {
        continue;
      }
      const ValueId result = node.outputs[0];
      visit(workOf(node), m_graph.type(result).dtype, m_plain[at(result)] && hasDenseOperands(node));
    }
  }

 private:
  // A value without known zeros or repeated rows.
  void findDense() {
    for (const domain::GraphInput& input : m_graph.inputs) {
      m_dense[at(input.value)] = !isExpanded(m_graph.type(input.value));
    }
    for (const Node& node : m_graph.nodes) {
      const bool dense = domain::atenWork(node.op) != AtenWork::Other && hasDenseOperands(node);
      for (const ValueId id : node.outputs) {
        if (id.isValid()) {
          m_dense[at(id)] = dense;
        }
      }
    }
  }

  [[nodiscard]] bool hasDenseOperands(const Node& node) const {
    const std::vector<ValueId> operands = domain::inputsOf(node);
    return !operands.empty() &&
           std::all_of(operands.begin(), operands.end(), [this](ValueId id) { return m_dense[at(id)]; });
  }

  // Needed: the outputs depend on every element. Plain: and nothing between here and the outputs adds elements up.
  void findNeeded() {
    std::set<ValueId> inputs;
    for (const domain::GraphInput& input : m_graph.inputs) {
      inputs.insert(input.value);
    }
    for (const domain::GraphOutput& output : m_graph.outputs) {
      m_needed[at(output.value)] = m_plain[at(output.value)] = true;
      if (!inputs.contains(output.value)) {
        m_outputs.insert(output.value);
      }
    }
    for (auto node = m_graph.nodes.rbegin(); node != m_graph.nodes.rend(); ++node) {
      passOn(*node);
    }
  }

  void passOn(const Node& node) {
    bool needed = false;
    bool plain = false;
    for (const ValueId id : node.outputs) {
      needed = needed || (id.isValid() && m_needed[at(id)]);
      plain = plain || (id.isValid() && m_plain[at(id)]);
    }
    const AtenWork kind = domain::atenWork(node.op);
    const std::vector<ValueId> operands = domain::inputsOf(node);
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const bool all = kind != AtenWork::Other && !(i == 0 && skipsInput(node));
      m_needed[at(operands[i])] = m_needed[at(operands[i])] || (needed && all);
      const bool keeps = kind == AtenWork::Elementwise || kind == AtenWork::Normalising;
      m_plain[at(operands[i])] = m_plain[at(operands[i])] || (plain && keeps);
    }
  }

  // A convolution with strides may leave elements between its windows, or at the edge, unread.
  [[nodiscard]] bool skipsInput(const Node& node) const {
    if (!domain::isConvolution(node.op) || node.args.size() < 4) {
      return false;
    }
    const auto* strides = std::get_if<domain::ArgumentList>(&node.args[3].value);
    return strides == nullptr || std::any_of(strides->begin(), strides->end(), [](const domain::Argument& stride) {
             const auto* number = std::get_if<std::int64_t>(&stride.value);
             return number == nullptr || *number != 1;
           });
  }

  template <class Wanted>
  [[nodiscard]] double inputBytes(const Wanted& wanted) const {
    double bytes = 0.0;
    for (const domain::GraphInput& input : m_graph.inputs) {
      bytes += wanted(input.value) ? storedBytes(m_graph.type(input.value)) : 0.0;
    }
    return bytes;
  }

  [[nodiscard]] Work workOf(const Node& node) const {
    const std::string_view name = domain::atenName(node.op);
    const std::vector<ValueId> operands = domain::inputsOf(node);
    const double results = product(m_graph.type(node.outputs[0]).shape);
    if (operands.size() < 2) {
      return {};
    }
    const TensorType& first = m_graph.type(operands[0]);
    const TensorType& second = m_graph.type(operands[1]);
    if (name == "scaled_dot_product_attention") {
      return attention(first, second, results);
    }
    if (name.substr(0, 4) == "conv") {
      return convolution(node, first, second, results);
    }
    // addmm and baddbmm have what is added first.
    const TensorType& left = name == "addmm" || name == "baddbmm" ? second : first;
    const double depth = left.shape.empty() ? 1.0 : static_cast<double>(left.shape.back());
    return {2.0 * results * depth, 2.0 * results * depth};
  }

  // Scores and their use, each 2 * queries * keys * width for each head.
  [[nodiscard]] static Work attention(const TensorType& query, const TensorType& key, double results) {
    if (query.shape.empty() || key.shape.size() < 2 || query.shape.back() == 0) {
      return {};
    }
    const auto keys = static_cast<double>(key.shape[key.shape.size() - 2]);
    const double scores = 2.0 * product(query.shape) * keys;
    const double use = 2.0 * results * keys;
    return {scores + use, (scores + use) / 2.0};
  }

  // A transposed one spreads each input over its window. The second dimension of the weight is what is summed up, or
  // spread over, beside the window.
  [[nodiscard]] static Work convolution(const Node& node, const TensorType& input, const TensorType& weight,
                                        double results) {
    constexpr std::size_t kTransposedArgument = 6;  // of aten.convolution
    bool transposed = domain::atenName(node.op).find("transpose") != std::string_view::npos;
    if (domain::atenName(node.op) == "convolution" && node.args.size() > kTransposedArgument) {
      const auto* flag = std::get_if<bool>(&node.args[kTransposedArgument].value);
      transposed = flag != nullptr && *flag;
    }
    if (weight.shape.size() < 2) {
      return {};
    }
    const double windows = transposed ? product(input.shape) : results;
    return {2.0 * windows * product(weight.shape, 1), 2.0 * windows * static_cast<double>(weight.shape[1])};
  }

  const domain::Graph& m_graph;
  std::vector<bool> m_dense;
  std::vector<bool> m_needed;
  std::vector<bool> m_plain;
  std::set<ValueId> m_outputs;
};

double nanoseconds(double amount, double perSecond) {
  return perSecond > 0.0 ? amount / perSecond * 1e9 : 0.0;
}

double floorOfTraffic(const GraphWork& work, const domain::DeviceInfo& device) {
  const auto cache = static_cast<double>(device.cacheBytes);
  if (device.kind == domain::DeviceKind::Cuda) {
    const double bytes = work.neededInputBytes() + std::max(0.0, work.outputBytes() - cache);
    return nanoseconds(bytes, kReadGain * device.copyBytesPerSecond);
  }
  const double bytes = work.neededInputBytes() + work.outputBytes() - kCpuCaches * cache;
  return nanoseconds(std::max(0.0, bytes), kCpuGain * device.copyBytesPerSecond);
}

// Dense multiply-adds of the matrix units, as operations in a clock on one multiprocessor, and the highest clock that
// boards of the architecture boost to; from the vendor's white papers.
struct Architecture {
  int capability;
  double half;  // float16 and bfloat16
  double tf32;
  double clock;  // Hz
};
constexpr std::array<Architecture, 10> kArchitectures = {{
    {70, 1024, 128, 1.6e9},
    {75, 1024, 128, 2.0e9},
    {80, 2048, 1024, 1.5e9},
    {86, 1024, 512, 2.1e9},
    {87, 1024, 512, 1.4e9},
    {89, 1024, 512, 2.9e9},
    {90, 4096, 2048, 2.0e9},
    {100, 8192, 4096, 2.1e9},
    {103, 8192, 4096, 2.1e9},
    {120, 1024, 512, 3.0e9},
}};

}  // namespace

double peakOperations(const domain::DeviceInfo& device, ScalarType type) {
  const bool half = type == ScalarType::Float16 || type == ScalarType::BFloat16;
  if (!half && type != ScalarType::Float32) {
    return 0.0;
  }
  for (const Architecture& architecture : kArchitectures) {
    if (architecture.capability == device.computeCapability) {
      return (half ? architecture.half : architecture.tf32) * architecture.clock * device.multiprocessors;
    }
  }
  return 0.0;
}

Roofline roofline(const domain::Graph& graph, const domain::DeviceInfo& device) {
  const GraphWork work(graph);
  Roofline result;
  result.bytes = work.bytes();
  double operationsNs = 0.0;
  double leastNs = 0.0;
  work.forEachProduct([&](const Work& of, ScalarType type, bool isCompulsory) {
    const double peak = peakOperations(device, type);
    result.operations += of.operations;
    operationsNs += nanoseconds(of.operations, peak);
    leastNs = std::max(leastNs, isCompulsory ? nanoseconds(of.leastOperations, peak) : 0.0);
  });
  const double trafficNs = nanoseconds(result.bytes, device.copyBytesPerSecond);
  result.roofNs = trafficNs > 0.0 ? std::max(trafficNs, operationsNs) : 0.0;
  result.floorNs = std::max(floorOfTraffic(work, device), leastNs);
  return result;
}

}  // namespace swage::stats
