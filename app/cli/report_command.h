// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/cli/command.h"

namespace swage::cli {

// `report`: a run written up as one file.
class ReportCommand final : public Command {
 public:
  ReportCommand(Context context, ReportArguments arguments)
      : Command(std::move(context)), m_arguments(std::move(arguments)) {}
  void start() override;

 private:
  [[nodiscard]] Result<> write() const;
  [[nodiscard]] Result<domain::RunId> run(const std::filesystem::path& project) const;

  ReportArguments m_arguments;
};

}  // namespace swage::cli
