// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "core/process/target_choice.h"
#include "core/run/session_parts.h"
#include "core/services/self_test_service.h"

namespace swage::engine {

// The self-test of the device that a search would take, as often as it is started. Keeps the verdict, as
// `swage doctor --self-test` does, so that the next search need not ask again.
class SelfTestServiceImpl final : public services::SelfTestService {
  Q_OBJECT

 public:
  // `corpus`: resources/selftest.
  SelfTestServiceImpl(run::SessionParts parts, std::filesystem::path corpus, QObject* parent = nullptr);
  ~SelfTestServiceImpl() override;

  void start() override;
  void cancel() override;
  [[nodiscard]] std::vector<services::StoredVerdict> storedVerdicts() const override;

 private:
  void run(const Result<domain::DeviceKind>& target);
  void handleReport(const Result<services::SelfTestReport>& report);
  void finish(const Result<services::SelfTestReport>& report);

  run::SessionParts m_parts;
  std::filesystem::path m_corpus;
  std::string m_corpusHash;
  std::unique_ptr<process::TargetChoice> m_choice;
  std::unique_ptr<trust::SelfTest> m_test;
};

}  // namespace swage::engine
