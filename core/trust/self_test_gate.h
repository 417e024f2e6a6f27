// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>

#include <filesystem>
#include <memory>
#include <string>

#include "core/base/result.h"
#include "core/domain/device_info.h"
#include "core/trust/self_test.h"

namespace swage::trust {

// Where the corpus is and where verdicts are kept.
struct SelfTestPolicy {
  std::filesystem::path corpus;    // resources/selftest
  std::filesystem::path verdicts;  // folder; one small file for each device, driver, build and PyTorch
  bool skip = false;               // --no-self-test: said in the record and to the user
};

// What a verdict holds for. Another driver, PyTorch or build of Swage may judge differently, so each is asked again.
struct SelfTestKey {
  domain::DeviceInfo device;
  std::string torchVersion;
  std::string build;       // see buildOf()
  std::string corpusHash;  // SelfTestCorpus::hash
};

// The version, and what tells one build of the worker and the compiler from another: their sizes and times.
[[nodiscard]] std::string buildOf(const std::filesystem::path& worker, const std::filesystem::path& compiler);

// Keeps that a self-test passed, or forgets it. A failure is not kept: the next run looks again.
[[nodiscard]] bool hasPassed(const std::filesystem::path& verdicts, const SelfTestKey& key);
[[nodiscard]] Result<> keepVerdict(const std::filesystem::path& verdicts, const SelfTestKey& key, bool passed,
                                   std::size_t cases);

// What is kept of a build, the newest first.
[[nodiscard]] std::vector<services::StoredVerdict> storedVerdicts(const std::filesystem::path& verdicts,
                                                                  const std::string& build);

// Why nothing may be recorded on this device.
[[nodiscard]] Error distrust(const services::SelfTestReport& report);

// Lets a search go on only on a device whose cheats are found and whose honest controls pass. Emits finished() exactly
// once, when every process it started is gone; an Error means that the search must not go on.
class SelfTestGate : public QObject {
  Q_OBJECT

 public:
  enum class Ground : std::uint8_t { Skipped, Remembered, Tested };

  SelfTestGate(SelfTestPolicy policy, SelfTest::Options options, domain::DeviceInfo device, std::string torchVersion,
               QObject* parent = nullptr);
  ~SelfTestGate() override;

  void start();
  void cancel();

 Q_SIGNALS:
  void progressed(int done, int total);
  void finished(const swage::Result<swage::trust::SelfTestGate::Ground>& ground);

 private:
  [[nodiscard]] Result<bool> prepare();
  void handleReport(const Result<services::SelfTestReport>& report);
  void finishLater(Result<Ground> ground);

  SelfTestPolicy m_policy;
  SelfTest::Options m_options;
  SelfTestKey m_key;
  std::unique_ptr<SelfTest> m_test;
};

[[nodiscard]] std::string_view name(SelfTestGate::Ground ground);

}  // namespace swage::trust
