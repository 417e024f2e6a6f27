// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/domain/device_info.h"

namespace swage::services {

// How one planted candidate fared.
struct SelfTestCase {
  enum class Verdict : std::uint8_t {
    AsExpected,
    Wrong,      // a cheat that passed, a control that failed, or a rejection by another rule
    Unchecked,  // went through, as what it does can only be seen by a tool that this self-test does not run
  };
  std::string name;      // "replay_by_pointer"
  std::string family;    // what kind of cheat, or "control"
  std::string expected;  // "rejected: code check", several separated by " | "
  std::string got;       // "correct"
  std::string detail;    // the evaluation in one line
  Verdict verdict = Verdict::Wrong;
  double seconds = 0.0;  // in the worker
};

// What planted cheats and honest candidates became on one device.
struct SelfTestReport {
  domain::DeviceInfo device;
  std::string torchVersion;
  std::vector<SelfTestCase> cases;  // in the order of the corpus
  double seconds = 0.0;

  // No cheat passed and no control failed.
  [[nodiscard]] bool hasPassed() const {
    for (const SelfTestCase& one : cases) {
      if (one.verdict == SelfTestCase::Verdict::Wrong) {
        return false;
      }
    }
    return !cases.empty();
  }
};

// A self-test that a device has passed before.
struct StoredVerdict {
  std::string deviceName;
  std::string driverVersion;  // empty: a CPU
  std::string torchVersion;
  int cases = 0;
  std::int64_t passedAtMs = 0;  // since 1970
};

// Evaluates known cheats and honest controls with the real compiler and worker. Asynchronous: start() once, then
// exactly one finished(), when every process it started is gone. An Error means that nothing was found out.
class SelfTestService : public QObject {
  Q_OBJECT

 public:
  using QObject::QObject;
  virtual void start() = 0;
  virtual void cancel() = 0;
  // Of this build of Swage, the newest first; a search on one of these devices does not repeat the test.
  [[nodiscard]] virtual std::vector<StoredVerdict> storedVerdicts() const { return {}; }

 Q_SIGNALS:
  void caseEnded(const swage::services::SelfTestCase& one, int done, int total);
  void finished(const swage::Result<swage::services::SelfTestReport>& report);
};

}  // namespace swage::services
