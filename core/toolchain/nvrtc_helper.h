// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "core/base/fd.h"
#include "core/base/result.h"
#include "core/toolchain/capped_log.h"
#include "core/toolchain/nvrtc_library.h"
#include "core/toolchain/process.h"

namespace swage::toolchain {

// The helper's own main: loads NVRTC and serves compilations on its standard streams until end of file.
// Returns the process's exit code. Runs inside the sandbox.
[[nodiscard]] int runNvrtcHelper(const std::string& nvrtcPath);

// Our end of one helper. It serves many compilations, because starting a sandbox and loading NVRTC costs more than a
// kernel does; it is killed with everything in it when a compilation meets a limit or the helper misbehaves.
// One thread.
class NvrtcHelper {
 public:
  // Waits until the helper has loaded NVRTC. Environment error, with the reason, when it cannot: where it
  // ended before it said so, what it printed.
  [[nodiscard]] static Result<NvrtcHelper> start(const std::vector<std::string>& command,
                                                 const Environment& environment);

  // The output; or why there is none, after which this helper is dead: the limit that was met, or Signalled when it
  // ended by itself.
  [[nodiscard]] std::variant<NvrtcOutput, ProcessEnd> compile(const std::string& source,
                                                              const std::vector<std::string>& options,
                                                              const ProcessLimits& limits);

  [[nodiscard]] int served() const { return m_served; }
  [[nodiscard]] const std::string& version() const { return m_version; }

 private:
  NvrtcHelper(LimitedChild process, Fd toHelper, Fd fromHelper, Fd errors)
      : m_process(std::move(process)),
        m_toHelper(std::move(toHelper)),
        m_fromHelper(std::move(fromHelper)),
        m_errors(std::move(errors)) {}
  [[nodiscard]] std::variant<std::vector<std::string>, ProcessEnd> exchange(std::string outgoing,
                                                                            const ProcessLimits& limits);
  // Reads what the helper has printed, so that it never waits for a full pipe.
  void readErrors();
  // Why it did not start: its own words, where it had any.
  [[nodiscard]] Error startFailure(ProcessEnd end, const ProcessLimits& limits);

  static constexpr std::size_t kMaxWords = 4096;

  LimitedChild m_process;
  Fd m_toHelper;
  Fd m_fromHelper;
  Fd m_errors;  // its standard error; none when that has ended
  CappedLog m_words{kMaxWords};
  std::string m_version;
  int m_served = 0;
};

}  // namespace swage::toolchain
