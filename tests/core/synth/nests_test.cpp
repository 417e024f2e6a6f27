// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <set>

#include "tests/core/synth/bench.h"

// Products, windows, scans and moves of data: every seed of each graph, compiled for the CPU and run, against loops
// over all elements in double.
namespace swage::synth {
namespace {

using domain::Shape;

std::int64_t countOf(const Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) {
    count *= size;
  }
  return count;
}

// A tensor of numbers that is read by coordinates.
struct Tensor {
  Shape shape;
  Numbers numbers;

  Tensor(Shape tensorShape, std::uint64_t seed)
      : shape(std::move(tensorShape)), numbers(randomNumbers(static_cast<std::size_t>(countOf(shape)), seed)) {}
  [[nodiscard]] bool has(const std::vector<std::int64_t>& at) const {
    for (std::size_t dim = 0; dim < at.size(); ++dim) {
      if (at[dim] < 0 || at[dim] >= shape[dim]) {
        return false;
      }
    }
    return true;
  }
  [[nodiscard]] double operator()(const std::vector<std::int64_t>& at) const {
    std::int64_t offset = 0;
    for (std::size_t dim = 0; dim < at.size(); ++dim) {
      offset = offset * shape[dim] + at[dim];
    }
    return numbers[static_cast<std::size_t>(offset)];
  }
  [[nodiscard]] Bytes bytes() const { return toBytes<float>(numbers); }
};

// Calls `visit` with every coordinate of a shape, in row-major order.
void forEach(const Shape& shape, const std::function<void(const std::vector<std::int64_t>&)>& visit) {
  std::vector<std::int64_t> at(shape.size(), 0);
  for (std::int64_t i = 0; i < countOf(shape); ++i) {
    std::int64_t rest = i;
    for (std::size_t dim = shape.size(); dim-- > 0;) {
      at[dim] = rest % shape[dim];
      rest /= shape[dim];
    }
    visit(at);
  }
}

// Runs every program that a first guess makes of the graph; `patterns` says which must be among them.
void expectEverySeed(const GraphBuilder& b, const std::vector<Bytes>& inputs, const Numbers& want,
                     const std::set<std::string>& patterns, double tolerance = 2e-5) {
  const auto synthesizer = makeSynthesizer(b.graph(), cpuDevice());
  std::set<std::string> seen;
  for (const domain::Genome& genome : synthesizer->seeds()) {
    const auto program = synthesizer->realise(genome);
    ASSERT_TRUE(program.has_value()) << program.error().message();
    for (const domain::RegionGene& gene : genome.regions) {
      seen.insert(gene.pattern);
    }
    if (program->plan.hasKernels() && program->plan.launchCount() == static_cast<int>(genome.regions.size())) {
      const std::vector<Bytes> results = runOnCpu(*program, inputs);
      ASSERT_EQ(results.size(), 1U) << program->source;
      EXPECT_EQ(firstDifference(toNumbers<float>(results[0]), want, tolerance), "")
          << domain::canonicalText(genome) << "\n"
          << program->source;
    }
  }
  for (const std::string& pattern : patterns) {
    EXPECT_EQ(seen.count(pattern), 1U) << pattern;
  }
}

domain::Argument tensors(const std::vector<domain::ValueId>& values) {
  domain::ArgumentList list;
  for (const domain::ValueId value : values) {
    list.push_back({value});
  }
  return {std::move(list)};
}

// --- products --------------------------------------------------------------------------------------------------------

TEST(Products, OfMatricesWithWhatFollows) {
  const Tensor a({37, 70}, 1);
  const Tensor c({70, 45}, 2);
  const Tensor bias({45}, 3);
  GraphBuilder b;
  const auto x = b.input(a.shape);
  const auto y = b.input(c.shape);
  const auto z = b.input(bias.shape);
  b.output(b.relu(b.add(b.call("aten.matmul.default", {arg(x), arg(y)}, {37, 45}), z)));
  Numbers want;
  forEach({37, 45}, [&](const auto& at) {
    double sum = bias({at[1]});
    for (std::int64_t k = 0; k < 70; ++k) {
      sum += a({at[0], k}) * c({k, at[1]});
    }
    want.push_back(std::max(sum, 0.0));
  });
  expectEverySeed(b, {a.bytes(), c.bytes(), bias.bytes()}, want, {"product", "product_packed"}, 1e-4);
}

TEST(Products, OfALinearLayerOverABatch) {
  const Tensor x({3, 5, 20}, 4);
  const Tensor weight({33, 20}, 5);
  const Tensor bias({33}, 6);
  GraphBuilder b;
  const auto input = b.input(x.shape);
  const auto w = b.input(weight.shape);
  const auto v = b.input(bias.shape);
  b.output(b.call("aten.linear.default", {arg(input), arg(w), arg(v)}, {3, 5, 33}));
  Numbers want;
  forEach({3, 5, 33}, [&](const auto& at) {
    double sum = bias({at[2]});
    for (std::int64_t k = 0; k < 20; ++k) {
      sum += x({at[0], at[1], k}) * weight({at[2], k});
    }
    want.push_back(sum);
  });
  expectEverySeed(b, {x.bytes(), weight.bytes(), bias.bytes()}, want, {"product", "product_packed"}, 1e-4);
}

TEST(Products, OfBatchesThatAreBroadcast) {
  const Tensor a({2, 1, 9, 11}, 7);
  const Tensor c({3, 11, 13}, 8);
  GraphBuilder b;
  const auto x = b.input(a.shape);
  const auto y = b.input(c.shape);
  b.output(b.call("aten.matmul.default", {arg(x), arg(y)}, {2, 3, 9, 13}));
  Numbers want;
  forEach({2, 3, 9, 13}, [&](const auto& at) {
    double sum = 0.0;
    for (std::int64_t k = 0; k < 11; ++k) {
      sum += a({at[0], 0, at[2], k}) * c({at[1], k, at[3]});
    }
    want.push_back(sum);
  });
  expectEverySeed(b, {a.bytes(), c.bytes()}, want, {"product"}, 1e-4);
}

TEST(Products, OfMatrixAndVectorAreRows) {
  const Tensor a({40, 300}, 9);
  const Tensor c({300, 1}, 10);
  GraphBuilder b;
  const auto x = b.input(a.shape);
  const auto y = b.input(c.shape);
  b.output(b.call("aten.matmul.default", {arg(x), arg(y)}, {40, 1}));
  Numbers want;
  forEach({40}, [&](const auto& at) {
    double sum = 0.0;
    for (std::int64_t k = 0; k < 300; ++k) {
      sum += a({at[0], k}) * c({k, 0});
    }
    want.push_back(sum);
  });
  expectEverySeed(b, {a.bytes(), c.bytes()}, want, {"row"}, 1e-4);
}

TEST(Products, NamedByAnEinsum) {
  const Tensor a({4, 6, 7, 10}, 11);
  const Tensor c({10, 12}, 12);
  GraphBuilder b;
  const auto x = b.input(a.shape);
  const auto y = b.input(c.shape);
  b.output(b.call("aten.einsum.default", {{std::string("bijl,lk->bijk")}, tensors({x, y})}, {4, 6, 7, 12}));
  Numbers want;
  forEach({4, 6, 7, 12}, [&](const auto& at) {
    double sum = 0.0;
    for (std::int64_t l = 0; l < 10; ++l) {
      sum += a({at[0], at[1], at[2], l}) * c({l, at[3]});
    }
    want.push_back(sum);
  });
  expectEverySeed(b, {a.bytes(), c.bytes()}, want, {"product"}, 1e-4);
}

// --- convolutions ----------------------------------------------------------------------------------------------------

struct Conv {
  Shape input;
  Shape weight;
  std::vector<std::int64_t> stride;
  std::vector<std::int64_t> padding;
  std::vector<std::int64_t> dilation;
  std::int64_t groups = 1;
  bool transposed = false;
  std::vector<std::int64_t> extra = {};  // of a transposed one: rows added at the end
};

Shape resultShape(const Conv& c) {
  Shape shape{c.input[0], c.transposed ? c.weight[1] * c.groups : c.weight[0]};
  for (std::size_t i = 0; i + 2 < c.input.size(); ++i) {
    const std::int64_t span = c.dilation[i] * (c.weight[i + 2] - 1);
    shape.push_back(c.transposed ? (c.input[i + 2] - 1) * c.stride[i] - 2 * c.padding[i] + span + 1 + c.extra[i]
                                 : (c.input[i + 2] + 2 * c.padding[i] - span - 1) / c.stride[i] + 1);
  }
  return shape;
}

double convolve(const Conv& c, const Tensor& x, const Tensor& w, const std::vector<std::int64_t>& at) {
  const std::int64_t inputs = c.input[1] / c.groups;
  const std::int64_t outputs = (c.transposed ? c.weight[1] * c.groups : c.weight[0]) / c.groups;
  const std::int64_t group = at[1] / outputs;
  Shape window(c.weight.begin() + 2, c.weight.end());
  window.insert(window.begin(), inputs);
  double sum = 0.0;
  forEach(window, [&](const auto& k) {
    std::vector<std::int64_t> from{at[0], group * inputs + k[0]};
    std::vector<std::int64_t> by{at[1], k[0]};
    if (c.transposed) {
      by = {group * inputs + k[0], at[1] % outputs};
    }
    for (std::size_t i = 0; i + 1 < k.size(); ++i) {
      by.push_back(k[i + 1]);
      if (!c.transposed) {
        from.push_back(at[i + 2] * c.stride[i] + k[i + 1] * c.dilation[i] - c.padding[i]);
        continue;
      }
      const std::int64_t place = at[i + 2] + c.padding[i] - k[i + 1] * c.dilation[i];
      from.push_back(place % c.stride[i] == 0 ? place / c.stride[i] : -1);
    }
    sum += x.has(from) ? x(from) * w(by) : 0.0;
  });
  return sum;
}

void expectConvolution(const Conv& c, const std::set<std::string>& patterns) {
  const Tensor x(c.input, 20);
  const Tensor w(c.weight, 21);
  const Shape shape = resultShape(c);
  const Tensor bias({shape[1]}, 22);
  GraphBuilder b;
  const auto input = b.input(c.input);
  const auto weight = b.input(c.weight);
  const auto v = b.input(bias.shape);
  const std::string rank = std::to_string(c.input.size() - 2) + "d";
  std::vector<domain::Argument> args{arg(input), arg(weight), arg(v), listArg(c.stride), listArg(c.padding)};
  if (c.transposed) {
    args.insert(args.end(), {listArg(c.extra), arg(static_cast<int>(c.groups)), listArg(c.dilation)});
  } else {
    args.insert(args.end(), {listArg(c.dilation), arg(static_cast<int>(c.groups))});
  }
  const std::string op = c.transposed ? "aten.conv_transpose" + rank + (rank == "1d" ? ".default" : ".input")
                                      : "aten.conv" + rank + ".default";
  b.output(b.relu(b.call(op, args, shape)));
  Numbers want;
  forEach(shape, [&](const auto& at) { want.push_back(std::max(0.0, convolve(c, x, w, at) + bias({at[1]}))); });
  expectEverySeed(b, {x.bytes(), w.bytes(), bias.bytes()}, want, patterns, 1e-4);
}

TEST(Convolutions, OfTwoDimensionsWithPadding) {
  expectConvolution({{2, 5, 9, 11}, {6, 5, 3, 3}, {1, 1}, {1, 1}, {1, 1}}, {"product", "direct"});
}

TEST(Convolutions, ThatSkipAndAreDilatedInGroups) {
  expectConvolution({{2, 6, 12, 13}, {8, 3, 3, 2}, {2, 3}, {2, 0}, {2, 1}, 2}, {"product", "direct"});
}

TEST(Convolutions, OfEachChannelAlone) {
  expectConvolution({{2, 7, 10, 10}, {7, 1, 3, 3}, {1, 2}, {1, 1}, {1, 1}, 7}, {"direct"});
}

TEST(Convolutions, OfOneAndOfThreeDimensions) {
  expectConvolution({{3, 4, 30}, {5, 4, 5}, {2}, {0}, {3}}, {"product", "direct"});
  expectConvolution({{1, 3, 6, 7, 8}, {4, 3, 2, 3, 3}, {1, 1, 2}, {0, 1, 1}, {1, 1, 1}}, {"product", "direct"});
}

TEST(Convolutions, TransposedWithStrideAndGroups) {
  expectConvolution({{2, 4, 5, 6}, {4, 3, 3, 3}, {2, 2}, {1, 1}, {1, 1}, 1, true, {1, 0}}, {"product", "direct"});
  expectConvolution({{1, 4, 9}, {4, 2, 4}, {3}, {2}, {2}, 2, true, {0}}, {"product", "direct"});
  expectConvolution({{1, 3, 3, 4, 5}, {3, 2, 3, 2, 3}, {2, 1, 2}, {0, 0, 1}, {1, 1, 1}, 1, true, {0, 0, 0}},
                    {"product", "direct"});
}

// --- pooling ---------------------------------------------------------------------------------------------------------

TEST(Pooling, OfTheLargestWithPaddingAndDilation) {
  const Tensor x({2, 3, 11, 12}, 30);
  GraphBuilder b;
  const auto input = b.input(x.shape);
  const Shape shape{2, 3, 5, 5};
  b.output(b.call("aten.max_pool2d.default",
                  {arg(input), listArg({3, 3}), listArg({2, 2}), listArg({1, 1}), listArg({2, 2})}, shape));
  Numbers want;
  forEach(shape, [&](const auto& at) {
    double largest = -std::numeric_limits<double>::infinity();
    forEach({3, 3}, [&](const auto& k) {
      const std::vector<std::int64_t> from{at[0], at[1], at[2] * 2 + k[0] * 2 - 1, at[3] * 2 + k[1] * 2 - 1};
      largest = x.has(from) ? std::max(largest, x(from)) : largest;
    });
    want.push_back(largest);
  });
  expectEverySeed(b, {x.bytes()}, want, {"direct", "pool"});
}

TEST(Pooling, OfTheMeanOfWhatIsInside) {
  const Tensor x({2, 2, 10}, 31);
  for (const bool countsPadding : {true, false}) {
    GraphBuilder b;
    const auto input = b.input(x.shape);
    b.output(b.call("aten.avg_pool1d.default",
                    {arg(input), listArg({4}), listArg({2}), listArg({1}), arg(false), arg(countsPadding)}, {2, 2, 5}));
    Numbers want;
    forEach({2, 2, 5}, [&](const auto& at) {
      double sum = 0.0;
      double count = 0.0;
      for (std::int64_t k = 0; k < 4; ++k) {
        const std::vector<std::int64_t> from{at[0], at[1], at[2] * 2 + k - 1};
        sum += x.has(from) ? x(from) : 0.0;
        count += x.has(from) || countsPadding ? 1.0 : 0.0;
      }
      want.push_back(sum / count);
    });
    expectEverySeed(b, {x.bytes()}, want, {"direct", "pool"});
  }
}

TEST(Pooling, ToAGivenSize) {
  const Tensor x({2, 3, 8, 6}, 32);
  GraphBuilder b;
  const auto input = b.input(x.shape);
  b.output(b.call("aten.adaptive_avg_pool2d.default", {arg(input), listArg({2, 3})}, {2, 3, 2, 3}));
  Numbers want;
  forEach({2, 3, 2, 3}, [&](const auto& at) {
    double sum = 0.0;
    forEach({4, 2}, [&](const auto& k) { sum += x({at[0], at[1], at[2] * 4 + k[0], at[3] * 2 + k[1]}); });
    want.push_back(sum / 8.0);
  });
  expectEverySeed(b, {x.bytes()}, want, {"direct", "pool"});
}

// --- scans and moves -------------------------------------------------------------------------------------------------

TEST(Scans, AlongEitherDimension) {
  const Tensor x({13, 21}, 40);
  for (const int dim : {0, 1}) {
    for (const bool isSum : {true, false}) {
      GraphBuilder b;
      const auto input = b.input(x.shape);
      b.output(b.mul(b.like(isSum ? "aten.cumsum.default" : "aten.cumprod.default", input, {arg(dim)}), 2.0));
      Numbers want;
      forEach(x.shape, [&](const auto& at) {
        double running = isSum ? 0.0 : 1.0;
        for (std::int64_t i = 0; i <= at[static_cast<std::size_t>(dim)]; ++i) {
          std::vector<std::int64_t> from = at;
          from[static_cast<std::size_t>(dim)] = i;
          running = isSum ? running + x(from) : running * x(from);
        }
        want.push_back(2.0 * running);
      });
      expectEverySeed(b, {x.bytes()}, want, {dim == 0 ? "scan_columns" : "scan"}, 1e-4);
    }
  }
}

// Two flips around a scan move nothing: it goes the other way, in one kernel with what stands before and after it.
TEST(Scans, FromTheEndOfWhatIsComputed) {
  const Tensor x({11, 6, 37}, 41);
  const Tensor scale({37}, 42);
  for (const int dim : {0, 1, 2}) {
    GraphBuilder b;
    const auto input = b.input(x.shape);
    const auto turned = b.like("aten.flip.default", b.relu(input), {listArg({dim})});
    const auto sums = b.like("aten.flip.default", b.like("aten.cumsum.default", turned, {arg(dim)}), {listArg({dim})});
    b.output(b.add(b.mul(sums, b.input(scale.shape)), input));
    const auto along = static_cast<std::size_t>(dim);
    Numbers want;
    forEach(x.shape, [&](const auto& at) {
      double running = 0.0;
      for (std::int64_t i = at[along]; i < x.shape[along]; ++i) {
        std::vector<std::int64_t> from = at;
        from[along] = i;
        running += std::max(0.0, x(from));
      }
      want.push_back(running * scale({at[2]}) + x(at));
    });
    expectEverySeed(b, {x.bytes(), scale.bytes()}, want, {dim == 2 ? "scan" : "scan_columns"}, 1e-4);
    EXPECT_EQ(makeSynthesizer(b.graph(), cpuDevice())->seeds().front().regions.size(), 1U);
  }
}

TEST(Moves, FlipAndTakeATriangle) {
  const Tensor x({9, 7}, 50);
  GraphBuilder b;
  const auto input = b.input(x.shape);
  b.output(b.add(b.like("aten.flip.default", input, {listArg({0, 1})}), b.like("aten.tril.default", input, {arg(1)})));
  Numbers want;
  forEach(x.shape, [&](const auto& at) {
    want.push_back(x({8 - at[0], 6 - at[1]}) + (at[1] <= at[0] + 1 ? x(at) : 0.0));
  });
  expectEverySeed(b, {x.bytes()}, want, {"gather"});
}

TEST(Moves, JoinAndPad) {
  const Tensor x({4, 3, 5}, 51);
  const Tensor y({4, 6, 5}, 52);
  GraphBuilder b;
  const auto first = b.input(x.shape);
  const auto second = b.input(y.shape);
  b.output(b.relu(b.call("aten.cat.default", {tensors({first, second, first}), arg(1)}, {4, 12, 5})));
  Numbers want;
  forEach({4, 12, 5}, [&](const auto& at) {
    const double value = at[1] < 3 ? x(at) : at[1] < 9 ? y({at[0], at[1] - 3, at[2]}) : x({at[0], at[1] - 9, at[2]});
    want.push_back(std::max(0.0, value));
  });
  expectEverySeed(b, {x.bytes(), y.bytes()}, want, {"gather"});

  GraphBuilder padded;
  const auto input = padded.input(x.shape);
  padded.output(padded.call("aten.constant_pad_nd.default", {arg(input), listArg({1, -1, 0, 2}), arg(1.5)}, {4, 5, 5}));
  Numbers filled;
  forEach({4, 5, 5}, [&](const auto& at) {
    const std::vector<std::int64_t> from{at[0], at[1], at[2] - 1};
    filled.push_back(x.has(from) ? x(from) : 1.5);
  });
  expectEverySeed(padded, {x.bytes()}, filled, {"gather"});
}

}  // namespace
}  // namespace swage::synth
