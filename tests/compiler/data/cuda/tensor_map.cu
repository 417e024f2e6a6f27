// A tile that the copy engine brings into shared memory. The map is an opaque struct of our own: no header is needed.
struct alignas(128) TensorMap {
  unsigned char bytes[128];
};

extern "C" __global__ void kernel(const __grid_constant__ TensorMap map, float* out) {
  __shared__ alignas(128) float tile[256];
  __shared__ unsigned long long arrived;
  const unsigned int barrier = static_cast<unsigned int>(__cvta_generic_to_shared(&arrived));
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier));
    asm volatile("fence.mbarrier_init.release.cluster;");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 1024;" ::"r"(barrier) : "memory");
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
            static_cast<unsigned int>(__cvta_generic_to_shared(tile))),
        "l"(&map), "r"(0), "r"(static_cast<int>(blockIdx.x)), "r"(barrier)
        : "memory");
  }
  __syncthreads();
  asm volatile(
      "{\n.reg .pred done;\nwait:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], 0;\n@done bra ready;\n"
      "bra wait;\nready:\n}" ::"r"(barrier)
      : "memory");
  out[blockIdx.x * 256 + threadIdx.x] = tile[threadIdx.x];
}
