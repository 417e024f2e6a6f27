// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "tests/core/synth/graph_builder.h"
#include "tests/core/synth/tensor_data.h"

// Recurrent layers as graphs, and what they give, as plain loops in double: torch.nn.LSTM, GRU and RNN.
namespace swage::synth {

struct RecurrentCase {
  std::string cell = "lstm";  // of aten.<cell>.input
  int layers = 1;
  int directions = 1;
  int steps = 5;
  int batch = 3;
  int inputs = 4;
  int units = 8;
  bool hasBiases = true;
  bool isBatchFirst = false;
  bool wantsStates = true;  // those after the last step, beside the results of all steps
  bool wantsResults = true;
  // To TF32, with their weights: what layers multiply that read the layer before in the same kernel, and all states.
  bool areInputsRounded = false;
  bool areStatesRounded = false;

  [[nodiscard]] int gates() const { return cell == "lstm" ? 4 : cell == "gru" ? 3 : 1; }
};

class RecurrentNumbers {
 public:
  using Numbers = std::vector<double>;

  explicit RecurrentNumbers(RecurrentCase of) : m_case(std::move(of)) {
    add(m_case.isBatchFirst ? domain::Shape{m_case.batch, m_case.steps, m_case.inputs}
                            : domain::Shape{m_case.steps, m_case.batch, m_case.inputs},
        1.0);
    const domain::Shape state{m_case.layers * m_case.directions, m_case.batch, m_case.units};
    add(state, 0.5);
    if (m_case.cell == "lstm") {
      add(state, 0.5);
    }
    m_firstWeight = m_shapes.size();
    const std::int64_t rows = m_case.gates() * m_case.units;
    for (int layer = 0; layer < m_case.layers; ++layer) {
      for (int direction = 0; direction < m_case.directions; ++direction) {
        add({rows, inputsOf(layer)}, 0.25);
        add({rows, m_case.units}, 0.25);
        if (m_case.hasBiases) {
          add({rows}, 0.25);
          add({rows}, 0.25);
        }
      }
    }
  }

  [[nodiscard]] GraphBuilder builder() const {
    GraphBuilder b;
    std::vector<domain::ValueId> values;
    for (const domain::Shape& shape : m_shapes) {
      values.push_back(b.input(shape));
    }
    domain::ArgumentList states;
    for (std::size_t i = 1; i < m_firstWeight; ++i) {
      states.push_back(arg(values[i]));
    }
    domain::ArgumentList weights;
    for (std::size_t i = m_firstWeight; i < values.size(); ++i) {
      weights.push_back(arg(values[i]));
    }
    const bool isLstm = m_case.cell == "lstm";
    const std::int64_t width = m_case.directions * m_case.units;
    const domain::Shape made = m_case.isBatchFirst ? domain::Shape{m_case.batch, m_case.steps, width}
                                                   : domain::Shape{m_case.steps, m_case.batch, width};
    std::vector<std::pair<domain::Shape, domain::ScalarType>> results{{made, domain::ScalarType::Float32},
                                                                      {m_shapes[1], domain::ScalarType::Float32}};
    if (isLstm) {
      results.push_back(results[1]);
    }
    const auto outputs = b.node("aten." + m_case.cell + ".input",
                                {arg(values[0]), isLstm ? domain::Argument{std::move(states)} : states.front(),
                                 domain::Argument{std::move(weights)}, arg(m_case.hasBiases), arg(m_case.layers),
                                 arg(0.0), arg(false), arg(m_case.directions == 2), arg(m_case.isBatchFirst)},
                                results);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (i == 0 ? m_case.wantsResults : m_case.wantsStates) {
        b.output(outputs[i]);
      } else {
        b.dropResult(i);
      }
    }
    return b;
  }

  [[nodiscard]] std::vector<Bytes> inputs() const {
    std::vector<Bytes> bytes;
    for (const Numbers& numbers : m_numbers) {
      bytes.push_back(toBytes<float>(numbers));
    }
    return bytes;
  }

  // One list for each output of the graph.
  [[nodiscard]] std::vector<Numbers> want() const {
    const bool isLstm = m_case.cell == "lstm";
    Numbers last(m_numbers[1].size());
    Numbers lastCell(m_numbers[1].size());
    Numbers x(m_numbers[0].size());  // (step, sequence, feature)
    for (int t = 0; t < m_case.steps; ++t) {
      for (int s = 0; s < m_case.batch; ++s) {
        for (int k = 0; k < m_case.inputs; ++k) {
          const int from = m_case.isBatchFirst ? s * m_case.steps + t : t * m_case.batch + s;
          x[at((t * m_case.batch + s) * m_case.inputs + k)] = m_numbers[0][at(from * m_case.inputs + k)];
        }
      }
    }
    const int inState = m_case.batch * m_case.units;
    for (int layer = 0; layer < m_case.layers; ++layer) {
      const int width = m_case.directions * m_case.units;
      Numbers made(at(m_case.steps * m_case.batch * width));
      for (int direction = 0; direction < m_case.directions; ++direction) {
        const int row = layer * m_case.directions + direction;
        Numbers h(m_numbers[1].begin() + row * inState, m_numbers[1].begin() + (row + 1) * inState);
        Numbers c(h.size());
        if (isLstm) {
          c.assign(m_numbers[2].begin() + row * inState, m_numbers[2].begin() + (row + 1) * inState);
        }
        for (int step = 0; step < m_case.steps; ++step) {
          const int t = direction == 1 ? m_case.steps - 1 - step : step;
          const Numbers before = h;
          for (int s = 0; s < m_case.batch; ++s) {
            for (int unit = 0; unit < m_case.units; ++unit) {
              advance(row, layer, x.data() + t * m_case.batch * inputsOf(layer) + s * inputsOf(layer),
                      before.data() + s * m_case.units, unit, h[at(s * m_case.units + unit)],
                      c[at(s * m_case.units + unit)]);
              made[at((t * m_case.batch + s) * width + direction * m_case.units + unit)] =
                  h[at(s * m_case.units + unit)];
            }
          }
        }
        std::copy(h.begin(), h.end(), last.begin() + row * inState);
        std::copy(c.begin(), c.end(), lastCell.begin() + row * inState);
      }
      x = std::move(made);
    }
    std::vector<Numbers> results;
    if (m_case.wantsResults) {
      results.push_back(turned(x));
    }
    if (m_case.wantsStates) {
      results.push_back(last);
      if (isLstm) {
        results.push_back(lastCell);
      }
    }
    return results;
  }

 private:
  static std::size_t at(int index) { return static_cast<std::size_t>(index); }
  // The nearest float with ten bits of mantissa.
  static double toTf32(double number) {
    const auto rounded = static_cast<float>(number);
    int exponent = 0;
    std::frexp(rounded, &exponent);
    const double place = std::ldexp(1.0, exponent - 11);
    return std::nearbyint(rounded / place) * place;
  }
  [[nodiscard]] int inputsOf(int layer) const { return layer == 0 ? m_case.inputs : m_case.directions * m_case.units; }

  void add(domain::Shape shape, double scale) {
    std::size_t count = 1;
    for (const std::int64_t size : shape) {
      count *= static_cast<std::size_t>(size);
    }
    m_numbers.push_back(randomNumbers(count, m_shapes.size() + 1));
    for (double& number : m_numbers.back()) {
      number *= scale;
    }
    m_shapes.push_back(std::move(shape));
  }

  // One unit of one sequence, one step further.
  void advance(int row, int layer, const double* x, const double* before, int unit, double& h, double& c) const {
    const std::size_t first = m_firstWeight + at(row) * (m_case.hasBiases ? 4 : 2);
    const auto sumOf = [&](std::size_t weight, const double* values, int count, int gate) {
      const bool isRounded =
          weight == 0 ? m_case.areInputsRounded && layer > 0 && m_case.directions == 1 : m_case.areStatesRounded;
      const int line = gate * m_case.units + unit;
      double sum = m_case.hasBiases ? m_numbers[first + weight + 2][at(line)] : 0.0;
      for (int k = 0; k < count; ++k) {
        const double factor = m_numbers[first + weight][at(line * count + k)];
        sum += isRounded ? toTf32(factor) * toTf32(values[k]) : factor * values[k];
      }
      return sum;
    };
    const auto input = [&](int gate) { return sumOf(0, x, inputsOf(layer), gate); };
    const auto state = [&](int gate) { return sumOf(1, before, m_case.units, gate); };
    const auto sigmoid = [](double value) { return 1.0 / (1.0 + std::exp(-value)); };
    if (m_case.cell == "lstm") {
      c = sigmoid(input(1) + state(1)) * c + sigmoid(input(0) + state(0)) * std::tanh(input(2) + state(2));
      h = sigmoid(input(3) + state(3)) * std::tanh(c);
    } else if (m_case.cell == "gru") {
      const double reset = sigmoid(input(0) + state(0));
      const double update = sigmoid(input(1) + state(1));
      h = (1.0 - update) * std::tanh(input(2) + reset * state(2)) + update * before[unit];
    } else {
      const double sum = input(0) + state(0);
      h = m_case.cell == "rnn_tanh" ? std::tanh(sum) : std::max(sum, 0.0);
    }
  }

  // As the result lies.
  [[nodiscard]] Numbers turned(const Numbers& x) const {
    if (!m_case.isBatchFirst) {
      return x;
    }
    Numbers to(x.size());
    const int width = m_case.directions * m_case.units;
    for (int t = 0; t < m_case.steps; ++t) {
      for (int s = 0; s < m_case.batch; ++s) {
        for (int k = 0; k < width; ++k) {
          to[at((s * m_case.steps + t) * width + k)] = x[at((t * m_case.batch + s) * width + k)];
        }
      }
    }
    return to;
  }

  RecurrentCase m_case;
  std::vector<domain::Shape> m_shapes;  // of the inputs of the graph
  std::vector<Numbers> m_numbers;
  std::size_t m_firstWeight = 0;
};

}  // namespace swage::synth
