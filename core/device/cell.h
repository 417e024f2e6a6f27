// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "core/base/fd.h"
#include "core/device/cell_protocol.h"
#include "core/device/failure.h"

namespace swage::device {

// A process of its own in which one candidate for a CPU runs (swage-cell): without files, clocks, network or other
// processes, and with nothing in its memory but that code and the buffers that it is given. What happens to it is an
// answer, never a danger for this process: a cell that crashes, is killed for a system call, or does not answer in time
// is gone, and every later call says the same. One thread at a time. The process ends with this.
class KernelCell {
 public:
  struct BufferSize {
    std::size_t bytes = 0;
    bool isReadOnly = false;
  };
  struct Options {
    std::filesystem::path program;  // swage-cell
    std::vector<BufferSize> buffers;
    int threads = 1;
    double limitSeconds = 20.0;  // of starting, and of every command but call()
  };
  // Which buffer, or the bits of a number.
  struct BufferArgument {
    std::size_t buffer = 0;
  };
  using Argument = std::variant<BufferArgument, std::uint64_t>;

  // `binary` is a shared object. Fails when it cannot be loaded there.
  [[nodiscard]] static DeviceResult<std::unique_ptr<KernelCell>> start(const Options& options,
                                                                       const std::string& binary);
  ~KernelCell();
  KernelCell(const KernelCell&) = delete;
  KernelCell& operator=(const KernelCell&) = delete;

  // What the cell shares with this process, which may write all of it at any time. Buffers begin at a multiple of 64
  // bytes and end at a guard page, but for the bytes to the next multiple of 64.
  [[nodiscard]] std::span<std::byte> buffer(std::size_t index) const;

  // The number of an entry, for call().
  [[nodiscard]] DeviceResult<int> bind(const std::string& entry);
  // Calls it and waits. How long that took, in nanoseconds of this process' clock, without what an empty call costs
  // here (measured before the first call, and by warm()). `place`: kCellShared, or memory of the cell's own.
  [[nodiscard]] DeviceResult<double> call(int entry, std::span<const Argument> arguments, double limitSeconds,
                                          std::uint32_t place = kCellShared);
  // Zeros in a buffer; how long that took, as for call().
  [[nodiscard]] DeviceResult<double> zero(std::size_t buffer, std::uint32_t place = kCellShared);
  // Between what is shared and the cell's own memory. Inputs have a copy for each place from 1 to kCellPlaces - 1; of
  // what kernels write there is one.
  [[nodiscard]] DeviceStatus copyIn(std::span<const std::size_t> buffers, std::uint32_t place);
  [[nodiscard]] DeviceStatus copyOut(std::span<const std::size_t> buffers);
  // The cell's own memory holds no old results.
  [[nodiscard]] DeviceStatus clear();
  // All threads of the team are awake, each on its one of `processors` (-1: anywhere), the first one beside the calling
  // thread: the next call need not wake them.
  [[nodiscard]] DeviceStatus place(std::span<const int> processors);
  // The same, and what an empty call costs just then is what counts from then on.
  [[nodiscard]] DeviceStatus warm(std::span<const int> processors = {});
  // Its threads stand still, also those that look for work, until it is asked for something.
  void rest();
  // Threads that it starts meanwhile are to stay where the one is that starts them.
  void setConfined(bool isConfined);
  // The median of empty calls, in nanoseconds.
  [[nodiscard]] DeviceResult<double> timeEmptyCalls(int calls);

  // The stacks of all its threads hold nothing of earlier calls, and their arithmetic is the usual one.
  [[nodiscard]] DeviceStatus renew();
  // Fails where a thread is left with another rounding mode, or with denormals flushed, and where something was written
  // just beside the cell's own memory.
  [[nodiscard]] DeviceStatus inspect();
  // A shared buffer with bytes changed beside it, where there are no guard pages.
  [[nodiscard]] std::optional<std::size_t> findOverrun() const;

  // -1: it is gone.
  [[nodiscard]] pid_t process() const { return m_process; }
  // What the system does not offer to keep the code in with: "Landlock", "seccomp"; empty: nothing is missing.
  [[nodiscard]] const std::string& gaps() const { return m_gaps; }

 private:
  struct Pages {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    std::uint64_t start = 0;
    std::size_t size = 0;
    bool isReadOnly = false;
  };
  class SharedPages;  // of a memory file

  explicit KernelCell(const Options& options);
  [[nodiscard]] DeviceStatus share(const Options& options);
  [[nodiscard]] DeviceStatus spawn(const Options& options, const std::string& binary);
  [[nodiscard]] DeviceStatus awaitStart();
  [[nodiscard]] std::byte* pagesOf(const Pages& pages) const;
  // Asks for what is in the control page and waits for the answer.
  [[nodiscard]] DeviceResult<double> ask(CellCommand command, double limitSeconds);
  // Waits while the word is `value`; fails when the cell ends or the time is over, and then the cell is gone.
  [[nodiscard]] DeviceStatus waitWhile(const std::atomic<std::uint32_t>& word, std::uint32_t value,
                                       double limitSeconds);
  [[nodiscard]] DeviceStatus command(CellCommand what, std::span<const std::size_t> buffers, std::uint32_t place);
  [[nodiscard]] DeviceStatus checkAnswer() const;
  [[nodiscard]] std::optional<DeviceFailure> howItEnded();
  [[nodiscard]] DeviceFailure describeFault(int signal) const;
  [[nodiscard]] DeviceStatus measureEmptyCall();
  [[nodiscard]] DeviceStatus lose(DeviceFailure why);
  void wakeBeside();

  double m_limitSeconds;
  double m_emptyNs = -1.0;  // not measured
  std::deque<double> m_lastEmptyNs;
  pid_t m_process = -1;
  int m_processor = -1;  // on which its first thread is kept
  bool m_isResting = false;
  std::uint32_t m_request = 0;
  int m_entries = 1;
  std::optional<DeviceFailure> m_lost;  // why there is no cell any more
  std::string m_gaps;
  std::vector<Pages> m_pages;
  std::unique_ptr<SharedPages> m_controlPages;
  std::unique_ptr<SharedPages> m_inputs;
  std::unique_ptr<SharedPages> m_outputs;
  CellControl* m_control = nullptr;  // in m_controlPages
};

}  // namespace swage::device
