// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace swage::toolchain {

struct NvrtcOutput {
  bool succeeded = false;
  std::string log;
  std::string cubin;
  std::string ptx;
};

// NVRTC, loaded at run time so that nothing of Swage is linked with CUDA. One thread.
class NvrtcLibrary {
 public:
  // Environment error when the library, or one of the functions we need, is not there.
  [[nodiscard]] static Result<NvrtcLibrary> load(const std::string& path);
  ~NvrtcLibrary();
  NvrtcLibrary(NvrtcLibrary&&) noexcept;
  NvrtcLibrary& operator=(NvrtcLibrary&&) = delete;
  NvrtcLibrary(const NvrtcLibrary&) = delete;
  NvrtcLibrary& operator=(const NvrtcLibrary&) = delete;

  [[nodiscard]] std::string version() const;  // "13.0"
  [[nodiscard]] NvrtcOutput compile(const std::string& source, const std::vector<std::string>& options) const;

 private:
  struct Functions;
  explicit NvrtcLibrary(std::unique_ptr<Functions> functions);

  std::unique_ptr<Functions> m_functions;
};

}  // namespace swage::toolchain
