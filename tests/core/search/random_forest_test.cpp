// SPDX-License-Identifier: Apache-2.0
#include "core/search/random_forest.h"

#include <gtest/gtest.h>

#include <cmath>

namespace swage::search {
namespace {

struct Data {
  std::vector<std::vector<double>> rows;
  std::vector<double> targets;
};

// Two parameters that matter, one that does not.
double truth(const std::vector<double>& row) {
  return 0.3 * std::abs(row[0] - 5.0) + 0.05 * row[1] * row[1];
}

Data sampled(int count, std::uint64_t seed) {
  Random random(seed);
  Data data;
  for (int i = 0; i < count; ++i) {
    data.rows.push_back({static_cast<double>(random.below(10)), static_cast<double>(random.below(6)), random.unit()});
    data.targets.push_back(truth(data.rows.back()));
  }
  return data;
}

RandomForest fitted(const Data& data, std::uint64_t seed = 1) {
  return RandomForest::fit(data.rows, data.targets, {}, Random(seed));
}

double meanSquare(const Data& data, double mean, const RandomForest* forest) {
  double sum = 0.0;
  for (std::size_t i = 0; i < data.rows.size(); ++i) {
    const double predicted = forest != nullptr ? forest->predict(data.rows[i]).mean : mean;
    sum += (predicted - data.targets[i]) * (predicted - data.targets[i]);
  }
  return sum / static_cast<double>(data.rows.size());
}

TEST(RandomForest, PredictsUnseenRowsMuchBetterThanTheMeanDoes) {
  const Data train = sampled(200, 1);
  const Data test = sampled(200, 2);
  double mean = 0.0;
  for (const double target : train.targets) {
    mean += target / static_cast<double>(train.targets.size());
  }
  const RandomForest forest = fitted(train);
  EXPECT_LT(meanSquare(test, 0.0, &forest), 0.1 * meanSquare(test, mean, nullptr));
}

TEST(RandomForest, IsTheSameForTheSameGenerator) {
  const Data train = sampled(60, 3);
  const RandomForest first = fitted(train, 7);
  const RandomForest second = fitted(train, 7);
  const RandomForest other = fitted(train, 8);
  int different = 0;
  for (const auto& row : sampled(50, 4).rows) {
    EXPECT_EQ(first.predict(row).mean, second.predict(row).mean);
    EXPECT_EQ(first.predict(row).deviation, second.predict(row).deviation);
    different += first.predict(row).mean != other.predict(row).mean ? 1 : 0;
  }
  EXPECT_GT(different, 0);
}

TEST(RandomForest, IsCertainOfAConstant) {
  Data data = sampled(30, 5);
  data.targets.assign(data.targets.size(), 2.5);
  const auto predicted = fitted(data).predict(data.rows.front());
  EXPECT_NEAR(predicted.mean, 2.5, 1e-12);
  EXPECT_NEAR(predicted.deviation, 0.0, 1e-6);
}

TEST(RandomForest, IsLessCertainBetweenTwoLevelsThanOnThem) {
  Data data;
  for (int i = 0; i < 40; ++i) {
    const bool high = i % 2 == 0;
    data.rows.push_back({high ? 10.0 : 0.0});
    data.targets.push_back(high ? 4.0 : 1.0);
  }
  const RandomForest forest = fitted(data);
  EXPECT_NEAR(forest.predict(std::vector{0.0}).mean, 1.0, 1e-9);
  EXPECT_NEAR(forest.predict(std::vector{10.0}).mean, 4.0, 1e-9);
  EXPECT_GT(forest.predict(std::vector{5.0}).deviation, forest.predict(std::vector{0.0}).deviation + 0.5);
}

TEST(RandomForest, CopesWithOneRowAndWithNoFeatures) {
  EXPECT_EQ(fitted({{{1.0, 2.0}}, {3.0}}).predict(std::vector{9.0, 9.0}).mean, 3.0);
  EXPECT_NEAR(fitted({{{}, {}}, {3.0, 3.0}}).predict({}).mean, 3.0, 1e-12);
}

}  // namespace
}  // namespace swage::search
