// SPDX-License-Identifier: Apache-2.0
// One 16x8x16 product of a warp, operands straight from global memory.
extern "C" __global__ void kernel(const unsigned* __restrict__ a, const unsigned* __restrict__ b,
                                  float* __restrict__ out) {
  const int lane = threadIdx.x & 31;
  float c0 = 0.0f, c1 = 0.0f, c2 = 0.0f, c3 = 0.0f;
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};\n"
      : "+f"(c0), "+f"(c1), "+f"(c2), "+f"(c3)
      : "r"(a[lane]), "r"(a[lane + 32]), "r"(a[lane + 64]), "r"(a[lane + 96]), "r"(b[lane]), "r"(b[lane + 32]));
  out[lane] = c0;
  out[lane + 32] = c1;
  out[lane + 64] = c2;
  out[lane + 96] = c3;
}
