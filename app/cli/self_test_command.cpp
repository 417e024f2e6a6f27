// SPDX-License-Identifier: Apache-2.0
#include "app/cli/self_test_command.h"

#include <algorithm>

#include <fmt/format.h>

#include "app/cli/run_command.h"
#include "app/cli/views.h"
#include "core/trust/self_test_gate.h"

namespace swage::cli {

using services::SelfTestCase;

SelfTestCommand::SelfTestCommand(Context context, DoctorArguments arguments)
    : Command(std::move(context)),
      m_arguments(std::move(arguments)),
      m_progress(makeProgressLine(this->context().common)) {}

void SelfTestCommand::start() {
  m_choice = std::make_unique<process::TargetChoice>(context().parts.programs.bridge, m_arguments.target,
                                                     context().parts.programs.driver());
  connect(m_choice.get(), &process::TargetChoice::finished, this, &SelfTestCommand::run);
  m_choice->start();
}

void SelfTestCommand::interrupt(int signal, int count) {
  m_signal = signal;
  if (m_test && count == 1) {
    m_test->cancel();
  } else {
    Command::interrupt(signal, count);
  }
}

void SelfTestCommand::run(const Result<domain::DeviceKind>& target) {
  if (!target) {
    fail(target.error());
    return;
  }
  auto corpus = trust::SelfTestCorpus::load(context().locations.selfTest, *target);
  if (!corpus) {
    fail(corpus.error());
    return;
  }
  m_corpusHash = corpus->hash;
  const auto total = static_cast<int>(corpus->cases.size());
  m_test =
      std::make_unique<trust::SelfTest>(std::move(*corpus), trust::selfTestOptions(context().parts.programs, *target));
  connect(m_test.get(), &trust::SelfTest::caseEnded, this, [this](const SelfTestCase& one, int done, int of) {
    m_progress.clear();
    showCase(one);
    m_progress.show(selfTestProgress(done, of));
  });
  connect(m_test.get(), &trust::SelfTest::finished, this, &SelfTestCommand::show);
  if (form() == OutputForm::Text) {
    print(selfTestHeading());
  }
  m_progress.show(selfTestProgress(0, total));
  m_test->start();
}

void SelfTestCommand::showCase(const SelfTestCase& one) {
  if (form() == OutputForm::Text) {
    print(selfTestLine(one));
  } else if (form() == OutputForm::JsonLines) {
    printJson(toJson(one));
  }
}

void SelfTestCommand::show(const Result<services::SelfTestReport>& report) {
  m_progress.clear();
  if (m_signal != 0) {
    Q_EMIT done(exitCodeForSignal(m_signal));
    return;
  }
  if (!report) {
    fail(report.error());
    return;
  }
  const run::SessionParts& parts = context().parts;
  if (parts.selfTest) {
    const trust::SelfTest::Options options = trust::selfTestOptions(parts.programs, report->device.kind);
    const trust::SelfTestKey key{report->device, report->torchVersion,
                                 trust::buildOf(options.worker.program, options.compiler.program), m_corpusHash};
    const Result<> kept = trust::keepVerdict(parts.selfTest->verdicts, key, report->hasPassed(), report->cases.size());
    if (!kept) {
      printError(kept.error(), form());
    }
  }
  if (form() == OutputForm::Text) {
    print(selfTestSummary(*report));
  } else {
    printJson(toJson(*report));
  }
  Q_EMIT done(report->hasPassed() ? wire::ExitCode::Ok : wire::ExitCode::VerificationFailed);
}

}  // namespace swage::cli
