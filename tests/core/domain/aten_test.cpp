// SPDX-License-Identifier: Apache-2.0
#include "core/domain/aten.h"

#include <gmock/gmock.h>

namespace swage::domain {
namespace {

TEST(Aten, HasOneNameForAllOverloads) {
  EXPECT_EQ(atenName("aten.softmax.int"), "softmax");
  EXPECT_EQ(atenName("aten._native_batch_norm_legit.no_stats"), "_native_batch_norm_legit");
  EXPECT_TRUE(isAten("aten.relu.default"));
  EXPECT_FALSE(isAten("prims.add.default"));
}

TEST(Aten, KnowsWhatAnOperatorDoesWithItsElements) {
  EXPECT_EQ(atenWork("aten.add.Tensor"), AtenWork::Elementwise);
  EXPECT_EQ(atenWork("aten.layer_norm.default"), AtenWork::Normalising);
  EXPECT_EQ(atenWork("aten.sum.dim_IntList"), AtenWork::Reducing);
  EXPECT_EQ(atenWork("aten.conv2d.default"), AtenWork::Product);
  EXPECT_EQ(atenWork("aten.cdist.default"), AtenWork::Other) << "what is not in the table is promised nothing";
}

TEST(Aten, LetsPlansCallOnlyWhatIsHarmless) {
  EXPECT_TRUE(isPureAten("aten.addmm.default"));
  for (const char* op : {"aten.dropout.default", "aten.rand.default", "aten.add_.Tensor", "aten.cdist.default"}) {
    EXPECT_FALSE(isPureAten(op)) << op;
  }
}

TEST(Aten, TellsListsAndConvolutions) {
  EXPECT_TRUE(returnsList("aten.split.Tensor"));
  EXPECT_TRUE(returnsList("aten.split_with_sizes.default"));
  EXPECT_FALSE(returnsList("aten.stack.default"));
  EXPECT_TRUE(isConvolution("aten.conv_transpose1d.default"));
  EXPECT_TRUE(isConvolution("aten.convolution.default"));
  EXPECT_FALSE(isConvolution("aten.linear.default"));
}

}  // namespace
}  // namespace swage::domain
