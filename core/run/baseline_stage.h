// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/run/baseline_measurement.h"
#include "core/run/stage.h"

namespace swage::run {

// How fast PyTorch is: of one task, device and PyTorch that is measured once, and known again from the record.
class BaselineStage final : public Stage {
  Q_OBJECT

 public:
  using Stage::Stage;
  void start() override;
  void cancel() override;

 Q_SIGNALS:
  void measured(const swage::domain::Baseline& baseline);

 private:
  [[nodiscard]] Result<> knowAgain();
  [[nodiscard]] Result<> reuse(const std::vector<std::string>& modes);
  void measure(std::vector<std::string> modes);
  void handleMeasured(const Result<std::vector<domain::Baseline>>& found);
  [[nodiscard]] Result<> add(const std::vector<domain::Baseline>& baselines);
  void noticeDoubts(const domain::Baseline& baseline);

  std::unique_ptr<BaselineMeasurement> m_measurement;
};

}  // namespace swage::run
