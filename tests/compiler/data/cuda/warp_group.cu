// One product of 64 x 8 x 16 by a warp group, which only the architecture with an "a" has.
extern "C" __global__ void kernel(float* out, unsigned long long left, unsigned long long right) {
  float sum[4] = {};
  asm volatile("wgmma.fence.sync.aligned;");
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 0, 1, 1, 0, 0;"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "l"(left), "l"(right));
  asm volatile("wgmma.commit_group.sync.aligned;");
  asm volatile("wgmma.wait_group.sync.aligned 0;");
  for (int i = 0; i < 4; ++i) {
    out[threadIdx.x * 4 + i] = sum[i];
  }
}
