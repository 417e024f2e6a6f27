// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace swage::testing {

// relu(const float* x, float* y, int64 n) as PTX, which the driver takes as it takes a cubin. `offset` bytes are added
// to the address written to; `extra` stands before the write, with the value in %f2.
inline std::string reluPtx(const std::string& offset, const std::string& extra = "") {
  return R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry relu(.param .u64 px, .param .u64 py, .param .u64 pn) {
  .reg .pred %p<2>;
  .reg .b32 %r<5>;
  .reg .f32 %f<3>;
  .reg .b64 %rd<10>;
  ld.param.u64 %rd1, [px];
  ld.param.u64 %rd2, [py];
  ld.param.u64 %rd3, [pn];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r1, %r2, %r3;
  cvt.u64.u32 %rd4, %r4;
  setp.ge.u64 %p1, %rd4, %rd3;
  @%p1 bra done;
  shl.b64 %rd5, %rd4, 2;
  add.u64 %rd6, %rd1, %rd5;
  add.u64 %rd7, %rd2, %rd5;
  add.u64 %rd7, %rd7, )" +
         offset + R"(;
  ld.global.f32 %f1, [%rd6];
  max.NaN.f32 %f2, %f1, 0f00000000;
  )" + extra +
         R"(
  st.global.f32 [%rd7], %f2;
done:
  ret;
}
)";
}

}  // namespace swage::testing
