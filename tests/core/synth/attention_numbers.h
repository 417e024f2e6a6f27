// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>

#include "tests/core/synth/product_numbers.h"

// What attention is tested with: operands, a graph, and exact results.
namespace swage::synth {

struct AttentionCase {
  std::size_t batch = 2;
  std::size_t heads = 2;
  std::size_t keyHeads = 2;
  std::size_t queries = 37;
  std::size_t keys = 45;
  std::size_t depth = 24;
  std::size_t columns = 24;
  enum class Mask : std::uint8_t { None, Causal, Bool, Bias } mask = Mask::None;
  std::optional<double> scale = {};
  domain::ScalarType type = domain::ScalarType::Float32;
};

class AttentionNumbers {
 public:
  explicit AttentionNumbers(AttentionCase sizes, double magnitude = 1.0)
      : m_sizes(sizes),
        query(numbers(sizes.heads * sizes.queries * sizes.depth, 1, magnitude)),
        key(numbers(sizes.keyHeads * sizes.keys * sizes.depth, 2, magnitude)),
        value(numbers(sizes.keyHeads * sizes.keys * sizes.columns, 3, 1.0)),
        mask(normalNumbers(sizes.queries * sizes.keys, 4)) {
    using Mask = AttentionCase::Mask;
    for (double& number : mask) {
      number = m_sizes.mask == Mask::Bool ? (number < 0.5 ? 1.0 : 0.0) : number;
    }
  }

  // softmax(query key^T * scale) value, with what `follow` adds behind it.
  [[nodiscard]] GraphBuilder builder(bool hasRelu = false) const {
    const auto as = [](std::size_t size) { return static_cast<std::int64_t>(size); };
    using Mask = AttentionCase::Mask;
    GraphBuilder b;
    const auto batch = as(m_sizes.batch);
    const auto q = b.input({batch, as(m_sizes.heads), as(m_sizes.queries), as(m_sizes.depth)}, m_sizes.type);
    const auto k = b.input({batch, as(m_sizes.keyHeads), as(m_sizes.keys), as(m_sizes.depth)}, m_sizes.type);
    const auto v = b.input({batch, as(m_sizes.keyHeads), as(m_sizes.keys), as(m_sizes.columns)}, m_sizes.type);
    std::vector<domain::Argument> args{arg(q), arg(k), arg(v)};
    const bool isMasked = m_sizes.mask == Mask::Bool || m_sizes.mask == Mask::Bias;
    args.push_back(isMasked ? arg(b.input({as(m_sizes.queries), as(m_sizes.keys)},
                                          m_sizes.mask == Mask::Bool ? domain::ScalarType::Bool : m_sizes.type))
                            : noArg());
    args.insert(args.end(), {arg(0.0), arg(m_sizes.mask == Mask::Causal)});
    args.push_back(m_sizes.scale ? arg(*m_sizes.scale) : noArg());
    args.push_back(arg(m_sizes.keyHeads != m_sizes.heads));
    const auto result = b.call("aten.scaled_dot_product_attention.default", args,
                               {batch, as(m_sizes.heads), as(m_sizes.queries), as(m_sizes.columns)}, m_sizes.type);
    b.output(hasRelu ? b.relu(result) : result);
    return b;
  }

  template <class T>
  [[nodiscard]] std::vector<Bytes> inputs() const {
    std::vector<Bytes> bytes{toBytes<T>(query), toBytes<T>(key), toBytes<T>(value)};
    if (m_sizes.mask == AttentionCase::Mask::Bool) {
      bytes.push_back(toBytes<unsigned char>(mask));
    } else if (m_sizes.mask == AttentionCase::Mask::Bias) {
      bytes.push_back(toBytes<T>(mask));
    }
    return bytes;
  }

  [[nodiscard]] Numbers want() const {
    Numbers result;
    for (std::size_t batch = 0; batch < m_sizes.batch; ++batch) {
      for (std::size_t head = 0; head < m_sizes.heads; ++head) {
        for (std::size_t row = 0; row < m_sizes.queries; ++row) {
          addRow(batch, head, row, result);
        }
      }
    }
    return result;
  }

 private:
  [[nodiscard]] Numbers numbers(std::size_t countOfOne, std::uint64_t seed, double magnitude) const {
    Numbers made = normalNumbers(m_sizes.batch * countOfOne, seed);
    for (double& number : made) {
      number = m_sizes.type == domain::ScalarType::Float16
                   ? static_cast<double>(static_cast<Half>(number * magnitude))
                   : static_cast<double>(static_cast<float>(number * magnitude));
    }
    return made;
  }

  [[nodiscard]] Numbers scores(std::size_t batch, std::size_t head, std::size_t keyHead, std::size_t row) const {
    using Mask = AttentionCase::Mask;
    Numbers found;
    const double scale = m_sizes.scale.value_or(1.0 / std::sqrt(static_cast<double>(m_sizes.depth)));
    for (std::size_t k = 0; k < m_sizes.keys; ++k) {
      double score = 0.0;
      for (std::size_t d = 0; d < m_sizes.depth; ++d) {
        score += query[((batch * m_sizes.heads + head) * m_sizes.queries + row) * m_sizes.depth + d] *
                 key[((batch * m_sizes.keyHeads + keyHead) * m_sizes.keys + k) * m_sizes.depth + d];
      }
      score *= scale;
      const double masked = mask[row * m_sizes.keys + k];
      const bool isLeftOut = (m_sizes.mask == Mask::Causal && k > row) || (m_sizes.mask == Mask::Bool && masked == 0.0);
      score += m_sizes.mask == Mask::Bias ? masked : 0.0;
      found.push_back(isLeftOut ? -std::numeric_limits<double>::infinity() : score);
    }
    return found;
  }

  void addRow(std::size_t batch, std::size_t head, std::size_t row, Numbers& result) const {
    const std::size_t keyHead = head / (m_sizes.heads / m_sizes.keyHeads);
    const Numbers score = scores(batch, head, keyHead, row);
    const double most = *std::max_element(score.begin(), score.end());
    const bool isEmpty = std::isinf(most) && most < 0.0;
    for (std::size_t c = 0; c < m_sizes.columns; ++c) {
      double total = 0.0;
      double weights = 0.0;
      const std::size_t end =
          m_sizes.mask == AttentionCase::Mask::Causal ? std::min(row + 1, m_sizes.keys) : m_sizes.keys;
      for (std::size_t k = 0; k < end && !isEmpty; ++k) {
        const double weight = std::exp(score[k] - most);
        weights += weight;
        total += weight * value[((batch * m_sizes.keyHeads + keyHead) * m_sizes.keys + k) * m_sizes.columns + c];
      }
      result.push_back(isEmpty ? 0.0 : total / weights);
    }
  }

  AttentionCase m_sizes;

 public:
  Numbers query;
  Numbers key;
  Numbers value;
  Numbers mask;
};

}  // namespace swage::synth
