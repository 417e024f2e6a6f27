// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "core/process/compiler_check.h"
#include "core/process/target_choice.h"
#include "core/run/stage.h"
#include "core/run/task_preparation.h"

// What comes before there is a worker.
namespace swage::run {

// Whether anything can be compiled here.
class CompilerStage final : public Stage {
  Q_OBJECT

 public:
  using Stage::Stage;
  void start() override;
  void cancel() override;

 private:
  std::unique_ptr<process::CompilerCheck> m_check;
};

// From what the user named to a task bundle. A resumed run has one.
class TaskStage final : public Stage {
  Q_OBJECT

 public:
  using Stage::Stage;
  [[nodiscard]] bool isNeeded() const override { return !m_context.bundle; }
  void start() override;
  void cancel() override;

 private:
  void handleBundle(const Result<store::TaskBundle>& bundle);

  std::unique_ptr<TaskPreparation> m_preparation;
};

// From "auto" to a kind of device.
class TargetStage final : public Stage {
  Q_OBJECT

 public:
  using Stage::Stage;
  void start() override;
  void cancel() override;

 private:
  std::unique_ptr<process::TargetChoice> m_choice;
};

}  // namespace swage::run
