// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/domain/advice_experience.h"
#include "core/store/database.h"

namespace swage::store {

// What one run taught.
struct LearnedRun {
  std::string name;  // of the run among all of this user
  std::string device;
  std::string architecture;
  std::vector<domain::AdviceExperience> advice;
};

// What the runs of one user taught about advice: a SQLite file beside the projects, which several programs may use at
// once. One thread only; failures are ErrorKind::Storage or Locked.
class Knowledge {
 public:
  static constexpr int kMostRuns = 50;  // that count, the newest: what was true of an old version fades

  // Makes the file and its folder.
  [[nodiscard]] static Result<Knowledge> open(const std::filesystem::path& file);
  // Fails where there is no file.
  [[nodiscard]] static Result<Knowledge> openToRead(const std::filesystem::path& file);

  // Takes the place of what the run taught before.
  [[nodiscard]] Result<> keep(const LearnedRun& run);
  // By rule and role, of runs on this device, or, where there are none, on others of its architecture; `except` is left
  // out.
  [[nodiscard]] Result<std::vector<domain::AdviceExperience>> about(std::string_view device,
                                                                    std::string_view architecture,
                                                                    std::string_view except) const;
  // Of one rule, with the device that it was learned on, over all roles.
  [[nodiscard]] Result<std::vector<std::pair<std::string, domain::AdviceExperience>>> ofRule(
      std::string_view rule) const;

 private:
  explicit Knowledge(Database database) : m_database(std::move(database)) {}
  [[nodiscard]] std::vector<domain::AdviceExperience> sums(const char* column, std::string_view value,
                                                           std::string_view except) const;

  Database m_database;
};

}  // namespace swage::store
