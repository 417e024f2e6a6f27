// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/synth/region_shape.h"
#include "core/synth/sizes.h"
#include "core/synth/strategy.h"

// What the strategies for CUDA have in common: limits of the devices, and numbers that several patterns are written in.
namespace swage::synth::cuda {

inline constexpr std::int64_t kWarp = 32;
// Shared memory the patterns declare themselves, beside what they ask for at launch.
inline constexpr std::int64_t kOwnSharedBytes = 12 << 10;
// A multiprocessor of every architecture we know can hold this many threads.
inline constexpr std::int64_t kThreadsPerMultiprocessor = 2048;
inline constexpr std::int64_t kRegistersPerMultiprocessor = 65536;
// Of each block, by the system, on every architecture with compute capability 8.0 and later.
inline constexpr std::int64_t kReservedSharedBytes = 1024;
inline constexpr std::int64_t kStateBytes = 64;
inline constexpr std::int64_t kMaxGangBlocks = 1024;

[[nodiscard]] inline std::uint32_t narrow(std::int64_t number) {
  return static_cast<std::uint32_t>(number);
}
[[nodiscard]] domain::TensorType bytes(std::int64_t count);

// The numbers all row patterns are written in.
struct RowShape {
  std::int64_t groups = 0;
  std::int64_t vectors = 0;  // of one group
  std::int64_t elements = 0;
};
[[nodiscard]] RowShape rowShape(const Instance& instance);
// Shared memory for the streamed elements of so many vectors.
[[nodiscard]] std::int64_t cachedBytes(const Instance& instance, std::int64_t vectors);

// A strategy for maps and reductions, with the checks that all of them need.
class LoopStrategy : public Strategy {
 public:
  LoopStrategy(std::string id, Form form) : Strategy(domain::Language::CudaCpp, std::move(id)), m_form(form) {}

  // Maps and reductions over whole tensors, walked in this form.
  [[nodiscard]] bool accepts(const Region& region) const final { return isWalkedIn(region, m_form); }

 protected:
  [[nodiscard]] static Launch oneLaunch(const std::string& entry);
  [[nodiscard]] Result<> fits(const Instance& instance) const final;
  // What the pattern asks beyond that.
  [[nodiscard]] virtual Result<> fitsPattern(const Instance& instance) const;

 private:
  [[nodiscard]] Result<> checkVector(const Instance& instance) const;
  [[nodiscard]] Result<> checkStages(const Instance& instance) const;

  Form m_form;
};

}  // namespace swage::synth::cuda
