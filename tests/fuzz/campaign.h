// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/toolchain/process.h"
#include "tests/fuzz/fuzz_case.h"

namespace swage::fuzz {

struct CampaignOptions {
  std::uint64_t seed = 1;
  std::uint64_t count = 500;
  std::vector<std::string> items;  // files to replay instead of seeds
  int jobs = 2;
  double minutes = 0.0;                   // 0: until all are done
  std::filesystem::path corpus;           // where failing cases go; empty: nowhere
  std::vector<std::string> childCommand;  // gets the items, between commas
  bool quiet = false;
};

// What was tried and what came of it.
struct Tally {
  std::uint64_t graphs = 0;
  std::uint64_t candidates = 0;
  std::uint64_t run = 0;
  std::uint64_t inexact = 0;
  std::map<std::string, std::uint64_t> refused;              // by PyTorch: reason
  std::map<std::string, std::vector<std::string>> failures;  // by kind: items
  std::uint64_t next = 0;                                    // the first seed that was not tried

  [[nodiscard]] std::string text() const;
};

// Hands cases to child processes and gathers what they say. A child that dies costs the case it was at.
class Campaign {
 public:
  explicit Campaign(CampaignOptions options);

  [[nodiscard]] Result<Tally> run();
  // What was found for each item that failed, inexact ones too.
  [[nodiscard]] const std::map<std::string, std::vector<Finding>>& findings() const { return m_findings; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Job {
    toolchain::LimitedChild child;
    Fd output;
    Fd errors;                      // a file without a name
    std::vector<std::string> open;  // items without an end
    std::string begun;
    std::string buffer;
    Clock::time_point heard;
  };

  [[nodiscard]] std::vector<std::string> nextItems();
  [[nodiscard]] Result<> fill();
  [[nodiscard]] Result<Job> startJob(std::vector<std::string> items) const;
  void wait();
  // Whether the child may have more to say.
  [[nodiscard]] bool read(Job& job);
  void handleLine(Job& job, const std::string& line);
  void handleEnd(Job& job, bool hung);
  void take(const std::string& item, std::vector<Finding> findings);
  void keep(const std::string& item, const std::vector<Finding>& failures) const;
  void showProgress();

  CampaignOptions m_options;
  Clock::time_point m_start = Clock::now();
  Clock::time_point m_shown = m_start;
  std::uint64_t m_nextSeed = 0;
  std::size_t m_nextItem = 0;
  std::deque<std::vector<std::string>> m_again;
  std::vector<Job> m_jobs;
  Tally m_tally;
  std::map<std::string, std::vector<Finding>> m_findings;
};

}  // namespace swage::fuzz
