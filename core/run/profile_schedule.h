// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace swage::run {

// When a search may stop for a profile. All times are seconds of search in one sitting. Pure.
class ProfileSchedule {
 public:
  // In one sitting. What is fast changes little by little, and so does what there is to say about it.
  static constexpr int kMost = 8;
  // Of the search: as much as its times scatter by from one run to the next, so that nobody notices it.
  static constexpr double kShare = 0.05;
  // The first one tells most. A worker starts and profiles in about five seconds, and a search of one minute, which is
  // the standard, is to have one.
  static constexpr double kFirstShare = 0.1;
  // Of the search: too little of it is left after that to be helped by what a profile says.
  static constexpr double kLastBegin = 0.75;

  struct Options {
    double budgetSeconds = 0.0;  // of the search; 0: it has no limit in time, and shares are of what has passed
    double firstSeconds = 0.0;   // that the first one is expected to take; a later one, as long as the one before
  };

  explicit ProfileSchedule(Options options);

  [[nodiscard]] bool isDue(double elapsedSeconds) const;
  // The most that one may take which begins now.
  [[nodiscard]] double limitSeconds(double elapsedSeconds) const;
  // One has ended at `elapsedSeconds`, and nothing was tried meanwhile for so long.
  void spend(double seconds, double elapsedSeconds);

 private:
  Options m_options;
  double m_expected = 0.0;   // of the next one
  double m_notBefore = 0.0;  // the next one
  double m_spent = 0.0;
  int m_made = 0;
};

}  // namespace swage::run
