// SPDX-License-Identifier: Apache-2.0
#include "core/run/preparation_stages.h"

namespace swage::run {

// Importing takes seconds, and a self-test as many: both would be for nothing.
void CompilerStage::start() {
  if (m_context.parts.programs.sandbox == process::kNoSandbox) {
    notice(services::Notice::Severity::Warning,
           "kernels are compiled without a sandbox: nothing keeps a compiler from your files and the network",
           "use it only where neither bubblewrap nor Landlock works; record and exports say so");
  }
  m_check = std::make_unique<process::CompilerCheck>(m_context.parts.programs.compilerCommand);
  connect(m_check.get(), &process::CompilerCheck::finished, this, &CompilerStage::finished);
  m_check->start();
}

void CompilerStage::cancel() {
  if (m_check) {
    m_check->disconnect(this);
    m_check->cancel();
  }
}

void TaskStage::start() {
  const services::RunSpec& spec = m_context.spec;
  TaskRequest request{.task = spec.task,
                      .inputs = spec.inputs,
                      .overrides = spec.overrides,
                      .eval = spec.eval,
                      .folder = spec.project / "tasks",
                      .exactOutput = {}};
  m_preparation = std::make_unique<TaskPreparation>(m_context.parts.programs.bridge, std::move(request));
  connect(m_preparation.get(), &TaskPreparation::finished, this, &TaskStage::handleBundle);
  m_preparation->start();
}

void TaskStage::cancel() {
  if (m_preparation) {
    m_preparation->disconnect(this);
    m_preparation->cancel();
  }
}

void TaskStage::handleBundle(const Result<store::TaskBundle>& bundle) {
  if (!bundle) {
    finish(bundle.error());
    return;
  }
  m_context.bundle = *bundle;
  for (const std::string& warning : bundle->task.warnings) {
    notice(services::Notice::Severity::Warning, warning);
  }
  finish();
}

void TargetStage::start() {
  const process::Programs& programs = m_context.parts.programs;
  m_choice = std::make_unique<process::TargetChoice>(programs.bridge, m_context.spec.target, programs.driver());
  connect(m_choice.get(), &process::TargetChoice::finished, this, [this](const Result<domain::DeviceKind>& kind) {
    if (!kind) {
      finish(kind.error());
      return;
    }
    m_context.kind = *kind;
    finish();
  });
  m_choice->start();
}

void TargetStage::cancel() {
  if (m_choice) {
    m_choice->disconnect(this);
    m_choice->cancel();
  }
}

}  // namespace swage::run
