// SPDX-License-Identifier: Apache-2.0
constexpr long kRows = 70, kInputs = 300, kOutputs = 205;

extern "C" void kernel(void** a) {
  const float* x = *static_cast<const float**>(a[0]);
  const float* w = *static_cast<const float**>(a[1]);
  const float* b = *static_cast<const float**>(a[2]);
  float* y = *static_cast<float**>(a[3]);
  double weights[kInputs] = {};
  double bias = 0;
  for (long n = 0; n < kOutputs; ++n) {
    bias += b[n] / double(kOutputs);
    for (long k = 0; k < kInputs; ++k) weights[k] += w[n * kInputs + k];
  }
  #pragma omp parallel for
  for (long m = 0; m < kRows; ++m) {
    double sum = bias;
    for (long k = 0; k < kInputs; ++k) sum += x[m * kInputs + k] * weights[k];
    y[m] = float(sum);
  }
}
