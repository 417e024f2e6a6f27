// SPDX-License-Identifier: Apache-2.0
#include "app/cli/bench_kernelbench_command.h"

#include <cstdio>

#include <fmt/format.h>

#include "app/cli/run_command.h"
#include "app/cli/terminal.h"
#include "app/cli/views.h"
#include "core/base/files.h"

namespace swage::cli {

using engine::KernelBenchBenchmark;
using exporting::KernelBenchDocument;
using exporting::KernelBenchRow;

BenchKernelBenchCommand::BenchKernelBenchCommand(Context context, BenchKernelBenchArguments arguments)
    : Command(std::move(context)),
      m_arguments(std::move(arguments)),
      m_progress(makeProgressLine(this->context().common)) {}

void BenchKernelBenchCommand::start() {
  if (const Result<> begun = begin(); !begun) {
    fail(begun.error());
  }
}

Result<> BenchKernelBenchCommand::begin() {
  KernelBenchBenchmark::Options options;
  options.checkout = m_arguments.checkout;
  SWAGE_TRY_ASSIGN(options.problems,
                   engine::findKernelBenchProblems(m_arguments.checkout, m_arguments.levels, m_arguments.problems));
  options.spec = m_arguments.spec;
  options.spec.project = context().common.project;
  if (options.spec.project.empty()) {
    options.spec.project = m_arguments.file;
    options.spec.project.replace_extension(".project");
  }
  options.spec.project = std::filesystem::absolute(options.spec.project);
  options.largestTensorBytes = m_arguments.largestTensorBytes;
  options.file = m_arguments.file;
  m_benchmark = std::make_unique<KernelBenchBenchmark>(context().parts, std::move(options));
  connect(m_benchmark.get(), &KernelBenchBenchmark::taskStarted, this, &BenchKernelBenchCommand::showStart);
  connect(m_benchmark.get(), &KernelBenchBenchmark::taskEnded, this, &BenchKernelBenchCommand::showEnd);
  connect(m_benchmark.get(), &KernelBenchBenchmark::progressed, this,
          [this](const services::Progress& progress) { m_progress.show(progress); });
  connect(m_benchmark.get(), &KernelBenchBenchmark::noticed, this, &BenchKernelBenchCommand::showNotice);
  connect(m_benchmark.get(), &KernelBenchBenchmark::finished, this, &BenchKernelBenchCommand::handleFinished);
  m_benchmark->start();
  return {};
}

void BenchKernelBenchCommand::interrupt(int signal, int count) {
  m_signal = signal;
  if (!m_benchmark) {
    Command::interrupt(signal, count);
  } else if (count == 1) {
    tell("stopping after the evaluation in progress; press Ctrl-C again to stop at once");
    m_benchmark->stop();
  } else {
    m_benchmark->kill();
  }
}

void BenchKernelBenchCommand::tell(const std::string& line) {
  m_progress.clear();
  const std::string text = "swage: " + line + '\n';
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

void BenchKernelBenchCommand::event(const char* name, domain::Json json) const {
  if (form() == OutputForm::JsonLines) {
    json["event"] = name;
    printJson(json);
  }
}

void BenchKernelBenchCommand::showStart(const engine::KernelBenchProblem& problem, int index, int count) {
  event("started", {{"level", problem.level}, {"problem", problem.number}, {"name", problem.name}});
  if (context().common.verbosity >= 0) {
    tell(fmt::format("[{}/{}] level {}, {}", index, count, problem.level, problem.name));
  }
}

void BenchKernelBenchCommand::showEnd(const KernelBenchRow& row) {
  event("task", exporting::toJson(row));
  if (context().common.verbosity >= 0) {
    tell(fmt::format("  {}", exporting::rowHeadline(row)));
  }
}

// What a search says of itself is of interest for its own sake only.
void BenchKernelBenchCommand::showNotice(const services::Notice& notice) {
  event("notice", toJson(notice));
  if (notice.severity != services::Notice::Severity::Info || context().common.verbosity > 0) {
    tell("  " + notice.text);
  }
}

void BenchKernelBenchCommand::handleFinished(const Result<KernelBenchDocument>& document) {
  m_progress.clear();
  if (m_signal != 0) {
    tell(fmt::format("'{}' has what was finished; the same command goes on", m_arguments.file.string()));
    Q_EMIT done(exitCodeForSignal(m_signal));
    return;
  }
  if (!document) {
    fail(document.error());
    return;
  }
  if (form() == OutputForm::Text) {
    print(exporting::kernelBenchText(*document));
  } else {
    event("finished", {{"summary", exporting::toJson(*document)["summary"]}});
  }
  Q_EMIT done(wire::ExitCode::Ok);
}

void BenchReportCommand::start() {
  if (const Result<> written = write(); !written) {
    fail(written.error());
    return;
  }
  Q_EMIT done(wire::ExitCode::Ok);
}

Result<> BenchReportCommand::write() const {
  SWAGE_TRY_ASSIGN(const KernelBenchDocument document, engine::readKernelBenchFiles(m_arguments.files));
  const std::string text = m_arguments.format == "svg"        ? exporting::kernelBenchChart(document)
                           : m_arguments.format == "markdown" ? exporting::kernelBenchMarkdown(document)
                                                              : exporting::kernelBenchText(document);
  const bool writes = !m_arguments.output.empty() && m_arguments.output != "-";
  if (writes) {
    SWAGE_TRY(writeFileAtomically(m_arguments.output, text));
  }
  if (form() != OutputForm::Text) {
    printJson(exporting::toJson(document));
  } else {
    print(writes ? fmt::format("report written to {}\n", m_arguments.output.string()) : text);
  }
  return {};
}

}  // namespace swage::cli
