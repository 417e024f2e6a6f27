// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cmath>
#include <limits>
#include <ostream>
#include <set>

#include "tests/core/synth/bench.h"
#include "tests/core/synth/emulator.h"

// Convolutions, what they compute in double, and their programs run by the emulation.
namespace swage::synth {

using Changes = std::map<std::string, std::int64_t>;
using Sizes = std::array<std::int64_t, 3>;  // depth, height, width

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
// Of L2 norms: of sums in float, and of operands with 11 bits.
inline constexpr double kFloatError = 4e-7;
inline constexpr double kHalfError = 6e-4;

// relu(conv(x, weight) + bias) of 1 to 3 dimensions; those that are not there have size 1.
struct Conv {
  const char* name = "";
  int dims = 2;
  std::int64_t images = 1;
  std::int64_t inputs = 1;  // channels
  std::int64_t outputs = 1;
  Sizes size{1, 1, 1};
  Sizes window{1, 1, 1};
  Sizes stride{1, 1, 1};
  Sizes padding{0, 0, 0};
  Sizes dilation{1, 1, 1};
  std::int64_t groups = 1;
  Changes changes = {};
  bool isTransposed = false;
  Sizes extra{0, 0, 0};  // of a transposed one: results added at the end

  [[nodiscard]] std::int64_t resultSize(std::size_t dim) const {
    if (isTransposed) {
      return (size[dim] - 1) * stride[dim] - 2 * padding[dim] + dilation[dim] * (window[dim] - 1) + extra[dim] + 1;
    }
    return (size[dim] + 2 * padding[dim] - dilation[dim] * (window[dim] - 1) - 1) / stride[dim] + 1;
  }
  [[nodiscard]] std::int64_t positions() const { return resultSize(0) * resultSize(1) * resultSize(2); }
  [[nodiscard]] std::size_t inputCount() const {
    return static_cast<std::size_t>(images * inputs * size[0] * size[1] * size[2]);
  }
  [[nodiscard]] std::size_t weightCount() const {
    return static_cast<std::size_t>(outputs * inputs / groups * window[0] * window[1] * window[2]);
  }
  [[nodiscard]] std::vector<std::int64_t> shown(const Sizes& sizes) const { return {sizes.end() - dims, sizes.end()}; }
  [[nodiscard]] domain::Shape shapeOf(std::int64_t first, std::int64_t second, const Sizes& sizes) const {
    domain::Shape shape = shown(sizes);
    shape.insert(shape.begin(), {first, second});
    return shape;
  }
  friend void PrintTo(const Conv& self, std::ostream* out) { *out << self.name; }
};

struct Operands {
  Numbers x;
  Numbers weight;
  Numbers bias;

  explicit Operands(const Conv& c)
      : x(randomNumbers(c.inputCount(), 1)),
        weight(randomNumbers(c.weightCount(), 2)),
        bias(randomNumbers(static_cast<std::size_t>(c.outputs), 3)) {}
};

// Makes each number one between two neighbours of ten bits of mantissa, of which now the smaller one is even, now the
// larger one.
inline void makeTies(Numbers& numbers) {
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = std::copysign(1.0 + static_cast<double>(2 * (i % 512) + 1) / 2048.0, numbers[i]);
  }
}
enum class Ties : std::uint8_t { ToEven, Away };
// What makeTies has made, rounded.
inline void roundTies(Numbers& numbers, Ties ties) {
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const bool isUp = ties == Ties::Away || i % 2 == 1;
    numbers[i] += (isUp ? 1.0 : -1.0) * std::copysign(1.0 / 2048.0, numbers[i]);
  }
}

// conv(x, weight) + bias
inline domain::ValueId addConvolution(GraphBuilder& b, const Conv& c,
                                      domain::ScalarType type = domain::ScalarType::Float32) {
  const auto x = b.input(c.shapeOf(c.images, c.inputs, c.size), type);
  const auto weight = b.input(c.isTransposed ? c.shapeOf(c.inputs, c.outputs / c.groups, c.window)
                                             : c.shapeOf(c.outputs, c.inputs / c.groups, c.window),
                              type);
  const auto bias = b.input({c.outputs}, type);
  const Sizes result{c.resultSize(0), c.resultSize(1), c.resultSize(2)};
  std::vector<domain::Argument> args{arg(x), arg(weight), arg(bias), listArg(c.shown(c.stride)),
                                     listArg(c.shown(c.padding))};
  const auto groups = arg(static_cast<int>(c.groups));
  if (c.isTransposed) {
    args.insert(args.end(), {listArg(c.shown(c.extra)), groups, listArg(c.shown(c.dilation))});
  } else {
    args.insert(args.end(), {listArg(c.shown(c.dilation)), groups});
  }
  const std::string op = "aten.conv" + std::string(c.isTransposed ? "_transpose" : "") + std::to_string(c.dims) + "d." +
                         (c.isTransposed && c.dims > 1 ? "input" : "default");
  return b.call(op, args, c.shapeOf(c.images, c.outputs, result), type);
}

inline domain::Graph graphOf(const Conv& c, domain::ScalarType type = domain::ScalarType::Float32) {
  GraphBuilder b;
  b.output(b.relu(addConvolution(b, c, type)));
  return b.graph();
}

// One sum, in double.
inline double sumAt(const Conv& c, const Operands& all, std::int64_t image, std::int64_t output, const Sizes& at) {
  const std::int64_t inputs = c.inputs / c.groups;
  const std::int64_t outputs = c.outputs / c.groups;
  const std::int64_t first = output / outputs * inputs;
  const std::int64_t taps = c.window[0] * c.window[1] * c.window[2];
  double sum = 0.0;
  for (std::int64_t input = 0; input < inputs; ++input) {
    for (std::int64_t i = 0; i < taps; ++i) {
      const Sizes place{i / (c.window[1] * c.window[2]), i / c.window[2] % c.window[1], i % c.window[2]};
      std::int64_t from = image * c.inputs + first + input;
      bool isInside = true;
      for (std::size_t dim = 0; dim < 3; ++dim) {
        std::int64_t in = at[dim] * c.stride[dim] + place[dim] * c.dilation[dim] - c.padding[dim];
        if (c.isTransposed) {
          in = at[dim] + c.padding[dim] - place[dim] * c.dilation[dim];
          isInside = isInside && in % c.stride[dim] == 0;
          in /= c.stride[dim];
        }
        isInside = isInside && in >= 0 && in < c.size[dim];
        from = from * c.size[dim] + in;
      }
      const std::int64_t by = c.isTransposed ? (first + input) * outputs + output % outputs : output * inputs + input;
      sum +=
          isInside ? all.x[static_cast<std::size_t>(from)] * all.weight[static_cast<std::size_t>(by * taps + i)] : 0.0;
    }
  }
  return sum;
}

inline Numbers convolved(const Conv& c, const Operands& all) {
  Numbers want;
  for (std::int64_t image = 0; image < c.images; ++image) {
    for (std::int64_t output = 0; output < c.outputs; ++output) {
      for (std::int64_t i = 0; i < c.positions(); ++i) {
        const std::int64_t plane = c.resultSize(1) * c.resultSize(2);
        const Sizes at{i / plane, i / c.resultSize(2) % c.resultSize(1), i % c.resultSize(2)};
        want.push_back(sumAt(c, all, image, output, at) + all.bias[static_cast<std::size_t>(output)]);
      }
    }
  }
  return want;
}

inline Numbers wanted(const Conv& c, const Operands& all) {
  Numbers want = convolved(c, all);
  for (double& value : want) {
    value = std::isnan(value) ? value : std::max(value, 0.0);
  }
  return want;
}

// The program whose convolution is made by the pattern, with these parameters; later ones count.
inline domain::Program programBy(const domain::Graph& graph, const std::string& pattern,
                                 const std::vector<Changes>& parameters,
                                 const domain::DeviceInfo& device = cudaDevice()) {
  const auto synthesizer = Synthesizer::create(graph, device, emulatedCatalogue());
  if (!synthesizer) {
    ADD_FAILURE() << synthesizer.error().message();
    return {};
  }
  for (domain::Genome genome : (*synthesizer)->seeds()) {
    if (genome.regions.size() != 1 || !genome.rewrites.empty() || genome.regions[0].pattern != pattern) {
      continue;
    }
    for (const Changes& all : parameters) {
      for (const auto& [name, value] : all) {
        genome.regions[0].parameters.at(name) = value;
      }
    }
    auto program = (*synthesizer)->realise(genome);
    EXPECT_TRUE(program.has_value()) << program.error().message();
    EXPECT_EQ(program ? domain::findDefect(program->plan) : "", "");
    return program.value_or(domain::Program());
  }
  ADD_FAILURE() << "no seed uses the pattern";
  return {};
}

inline Numbers run(const domain::Program& program, const Operands& all) {
  if (program.plan.inputs.empty()) {
    return {};  // it could not be made, which has been said
  }
  const auto results =
      runEmulated(program, {toBytes<float>(all.x), toBytes<float>(all.weight), toBytes<float>(all.bias)});
  return results.empty() ? Numbers() : toNumbers<float>(results.front());
}

inline double relativeError(const Numbers& got, const Numbers& want) {
  double difference = 0.0;
  double norm = 0.0;
  EXPECT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < std::min(got.size(), want.size()); ++i) {
    difference += (got[i] - want[i]) * (got[i] - want[i]);
    norm += want[i] * want[i];
  }
  return std::sqrt(difference / norm);
}

// Whether the program of a convolution rounds ties so.
inline bool roundsTies(const domain::Program& program, const Conv& c, Ties ties) {
  constexpr double kAlike = 4e-6;  // another way to round makes a difference of 5e-4
  Operands all(c);
  makeTies(all.x);
  makeTies(all.weight);
  const Numbers got = run(program, all);
  roundTies(all.x, ties);
  roundTies(all.weight, ties);
  return relativeError(got, wanted(c, all)) < kAlike;
}

inline Conv transposed(Conv c) {
  c.isTransposed = true;
  return c;
}

}  // namespace swage::synth
