// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QTimer>

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>

#include "core/process/compiler_pool.h"
#include "core/process/launch_command.h"
#include "core/services/compile_service.h"

namespace swage::engine {

// CompileService with one swage-compiler of its own, which starts with the first draft and stays. A newer draft waits
// for the one in work, which takes a fraction of a second, but not for long: then that compiler is replaced.
class CompileServiceImpl final : public services::CompileService {
  Q_OBJECT

 public:
  struct Options {
    process::LaunchCommand compiler;
    double limitSeconds = 20.0;
    std::chrono::milliseconds patience{3000};  // with a draft that nobody waits for any more
  };

  explicit CompileServiceImpl(Options options, QObject* parent = nullptr);
  ~CompileServiceImpl() override;

  // The compiler as it is found here, with a cache for the headers that every kernel includes.
  [[nodiscard]] static Options standard(process::LaunchCommand compiler, const std::filesystem::path& cacheFolder);

  [[nodiscard]] std::uint64_t compile(const services::DraftSource& draft) override;
  // For those who know themselves what a draft is compiled for.
  [[nodiscard]] std::uint64_t compile(domain::CompileRequest request);
  void cancel() override;

 private:
  struct Job {
    std::uint64_t number = 0;
    domain::CompileRequest request;
  };

  [[nodiscard]] Result<domain::CompileRequest> requestFor(const services::DraftSource& draft);
  void submit();
  void openPool();
  void abandonPool();
  void handleCompiled(std::uint64_t number, const domain::CompileOutcome& outcome);
  void handleFailed(const Error& error);

  Options m_options;
  process::CompilerPool* m_pool = nullptr;
  QTimer m_patience;
  std::optional<Job> m_waiting;  // until the compiler is free
  std::uint64_t m_newest = 0;    // whose answer is wanted; 0: nobody's
  std::uint64_t m_given = 0;     // that the compiler works on; 0: it is free
  std::uint64_t m_last = 0;
  // What the last draft was compiled for; drafts of the same candidate come one after another.
  services::DraftSource m_known;
  domain::CompileRequest m_knownRequest;
};

}  // namespace swage::engine
