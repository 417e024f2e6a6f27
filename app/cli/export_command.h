// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

#include "app/cli/command.h"
#include "core/engine/export_checks.h"
#include "core/services/export_service.h"

namespace swage::cli {

// `swage export`: checks a candidate, says what is known of it, and writes it as a file or a folder. Leaves with 8 when
// the checks that it ran found that the candidate is wrong.
class ExportCommand final : public Command {
 public:
  ExportCommand(Context context, ExportArguments arguments)
      : Command(std::move(context)), m_arguments(std::move(arguments)) {}
  void start() override;
  void interrupt(int signal, int count) override;

 private:
  [[nodiscard]] Result<> begin();
  [[nodiscard]] Result<domain::CandidateId> candidate() const;
  [[nodiscard]] std::vector<engine::ExportChecks::Check> checks() const;
  void handleChecked(const Result<>& done);
  void finish();
  [[nodiscard]] Result<> finishWith(const store::Record& record);
  [[nodiscard]] Result<> write(const services::ExportFiles& files) const;
  void show(const services::ExportFacts& facts, const services::ExportFiles& files) const;

  ExportArguments m_arguments;
  std::filesystem::path m_project;
  domain::CandidateId m_candidate;
  std::unique_ptr<engine::ExportChecks> m_checks;
  std::optional<domain::Assurance> m_shapes;
  bool m_foundWrong = false;
  int m_signal = 0;
};

}  // namespace swage::cli
