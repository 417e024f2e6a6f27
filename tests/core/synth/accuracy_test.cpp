// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <functional>

#include "tests/core/synth/graph_builder.h"
#include "tests/core/synth/lab.h"
#include "tests/core/synth/system_compiler.h"
#include "tests/core/synth/tensor_data.h"

// Sums of float32, compiled and run, against double: whatever their length, they stay within the error that the
// contract always accepts (core/verify/contract.h).
namespace swage::synth {
namespace {

using Numbers = std::vector<double>;

constexpr double kTwoRoundings = 1.2e-7;
// Kept in double, as CPU kernels do, a sum is rounded once.
constexpr double kOneRounding = 6e-8;

enum class Signs : std::uint8_t { Positive, Both };

Numbers numbers(std::size_t count, Signs signs) {
  Numbers values = randomNumbers(count, 20);
  for (double& value : values) {
    value = signs == Signs::Positive ? std::abs(value) : value;
  }
  return values;
}

double relativeError(const Numbers& got, const Numbers& want) {
  double error = 0.0;
  double size = 0.0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    error += (got[i] - want[i]) * (got[i] - want[i]);
    size += want[i] * want[i];
  }
  return std::sqrt(error / size);
}

// A matrix whose rows or columns are reduced, and the programs for it.
class Sums {
 public:
  Sums(std::size_t rows, std::size_t columns, int reduced) : m_rows(rows), m_columns(columns), m_reduced(reduced) {}

  // The worst error over the seeds with `pattern`, each with these changes to its parameters.
  [[nodiscard]] double worstError(const std::string& op, const std::string& pattern, Signs signs,
                                  const std::map<std::string, std::int64_t>& changes = {}) const {
    GraphBuilder b;
    const auto x = b.input({std::int64_t(m_rows), std::int64_t(m_columns)});
    const std::size_t kept = m_reduced == 0 ? m_columns : m_rows;
    b.output(b.call(op, {arg(x), listArg({m_reduced})}, {std::int64_t(kept)}));
    const Numbers values = numbers(m_rows * m_columns, signs);
    const double divisor = op == "aten.mean.dim" ? static_cast<double>(values.size() / kept) : 1.0;
    const Numbers want = exact(values, kept, divisor);
    const auto synthesizer = makeSynthesizer(b.graph(), cpuDevice());
    double worst = -1.0;
    for (domain::Genome genome : synthesizer->seeds()) {
      if (genome.regions.size() != 1 || genome.regions[0].pattern != pattern || worst >= 0.0) {
        continue;
      }
      for (const auto& [name, value] : changes) {
        genome.regions[0].parameters.at(name) = value;
      }
      const auto program = synthesizer->realise(genome);
      EXPECT_TRUE(program) << program.error().message();
      worst = relativeError(toNumbers<float>(runOnCpu(*program, {toBytes<float>(values)}).at(0)), want);
    }
    EXPECT_GE(worst, 0.0) << "no seed has pattern " << pattern;
    return worst;
  }

 private:
  [[nodiscard]] Numbers exact(const Numbers& values, std::size_t kept, double divisor) const {
    Numbers sums(kept);
    for (std::size_t row = 0; row < m_rows; ++row) {
      for (std::size_t column = 0; column < m_columns; ++column) {
        sums[m_reduced == 0 ? column : row] += values[row * m_columns + column];
      }
    }
    for (double& sum : sums) {
      sum /= divisor;
    }
    return sums;
  }

  std::size_t m_rows;
  std::size_t m_columns;
  int m_reduced;
};

TEST(Accuracy, OfColumnSumsOver500Rows) {
  const Sums sums(500, 300, 0);
  for (const Signs signs : {Signs::Positive, Signs::Both}) {
    EXPECT_LE(sums.worstError("aten.sum.dim_IntList", "column", signs), kOneRounding);
  }
  EXPECT_LE(sums.worstError("aten.mean.dim", "column", Signs::Positive, {{"block", 64}}), kTwoRoundings);
}

TEST(Accuracy, OfColumnSumsOverManyRows) {
  EXPECT_LE(Sums(100'003, 17, 0).worstError("aten.sum.dim_IntList", "column", Signs::Positive, {{"block", 16}}),
            kOneRounding);
}

TEST(Accuracy, OfLongRowSums) {
  const Sums sums(50, 100'003, 1);
  for (const Signs signs : {Signs::Positive, Signs::Both}) {
    EXPECT_LE(sums.worstError("aten.sum.dim_IntList", "row", signs), kOneRounding);
  }
  EXPECT_LE(sums.worstError("aten.mean.dim", "row", Signs::Positive, {{"lanes", 16}}), kTwoRoundings);
}

TEST(Accuracy, OfRowSumsByAllThreads) {
  const Sums sums(6, 1'000'003, 1);
  EXPECT_LE(sums.worstError("aten.sum.dim_IntList", "split", Signs::Positive), kOneRounding);
  EXPECT_LE(sums.worstError("aten.mean.dim", "split", Signs::Positive, {{"lanes", 256}}), kTwoRoundings);
}

}  // namespace
}  // namespace swage::synth
