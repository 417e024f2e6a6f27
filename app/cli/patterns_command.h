// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/cli/command.h"
#include "core/models/embedding_call.h"
#include "core/retrieval/finder.h"

namespace swage::cli {

// `patterns search`: how fast kernels are written, from what lies on this machine. Ends at once, but for the first
// time.
class PatternsCommand final : public Command {
 public:
  PatternsCommand(Context context, PatternsArguments arguments)
      : Command(std::move(context)), m_arguments(std::move(arguments)) {}
  void start() override;

 private:
  [[nodiscard]] Result<> begin();
  // That of the arguments, else that of the settings, if it can be used.
  [[nodiscard]] Result<std::optional<models::Endpoint>> chooseModel() const;
  [[nodiscard]] Result<> askModel(const models::Endpoint& model);
  void handlePoints(const Result<models::TextPoints>& points);
  void show();

  PatternsArguments m_arguments;
  std::size_t m_indexed = 0;
  std::vector<retrieval::Found> m_found;
  std::unique_ptr<models::EmbeddingCall> m_model;
};

// The body is cut to so many bytes; 0: it is left out.
[[nodiscard]] domain::Json toJson(const retrieval::Found& found, std::size_t mostOfBody);
[[nodiscard]] std::string foundTable(const std::vector<retrieval::Found>& found);

}  // namespace swage::cli
