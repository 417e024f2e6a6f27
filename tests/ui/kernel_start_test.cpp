// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/editor/kernel_start.h"

#include <gtest/gtest.h>

using namespace Qt::StringLiterals;

namespace swage::ui {
namespace {

TEST(KernelStart, IsTheCommentRightBeforeAKernel) {
  EXPECT_EQ(kernelStart(u"int f() { return 1; }\n\n// Rows.\n// Two lines.\nextern \"C\" __global__ void k(\n"_s), 2);
  EXPECT_EQ(kernelStart(u"// apart\n\nextern \"C\" void k(void** arguments) {\n}\n"_s), 2);
  EXPECT_EQ(kernelStart(u"template <int N>\n__global__ void k() {}\n"_s), 0);
  EXPECT_EQ(kernelStart(u"__global__ void clear() {\n}\n\n// All.\n__global__ void k() {\n  f();\n}\n"_s), 3);
}

TEST(KernelStart, IsNotWhatOnlyDeclares) {
  EXPECT_EQ(kernelStart(u"extern \"C\" {\nfloat logf(float);\n}\nextern \"C\" float erff(float);\n"_s), -1);
  EXPECT_EQ(kernelStart(u"// __global__ is what CUDA launches\nint f();\n"_s), -1);
  EXPECT_EQ(kernelStart(QString()), -1);
}

}  // namespace
}  // namespace swage::ui
