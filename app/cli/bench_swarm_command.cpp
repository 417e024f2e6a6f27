// SPDX-License-Identifier: Apache-2.0
#include "app/cli/bench_swarm_command.h"

#include <fmt/format.h>

namespace swage::cli {

using engine::SwarmBenchmark;

void BenchSwarmCommand::start() {
  if (!m_folder.isValid()) {
    fail(Error(ErrorKind::Storage,
               fmt::format("cannot make a folder for the record: {}", m_folder.errorString().toStdString()),
               "set TMPDIR to a folder that you may write to"));
    return;
  }
  SwarmBenchmark::Options options;
  options.folder = m_folder.filePath(QStringLiteral("record")).toStdString();
  options.models = m_arguments.models;
  options.tokensPerSecond = m_arguments.tokensPerSecond;
  options.tokensPerEvent = m_arguments.tokensPerEvent;
  options.seconds = m_arguments.seconds;
  m_benchmark = std::make_unique<SwarmBenchmark>(options);
  connect(m_benchmark.get(), &SwarmBenchmark::finished, this, &BenchSwarmCommand::show, Qt::QueuedConnection);
  m_benchmark->start();
}

void BenchSwarmCommand::show(const Result<SwarmBenchmark::Report>& report) {
  if (!report) {
    fail(report.error());
    return;
  }
  if (form() == OutputForm::Text) {
    print(benchSwarmText(*report));
  } else {
    printJson(toJson(*report));
  }
  Q_EMIT done(wire::ExitCode::Ok);
}

domain::Json toJson(const SwarmBenchmark::Report& report) {
  return {{"seconds", report.seconds},
          {"wanted_tokens_per_second", report.wantedTokensPerSecond},
          {"tokens_per_second", report.tokensPerSecond},
          {"replies_per_second", report.repliesPerSecond},
          {"candidates", report.candidates},
          {"queued_bytes", {{"first_quarter", report.queuedFirst}, {"last_quarter", report.queuedLast}}},
          {"behind_tokens", report.behindTokens},
          {"stall_ms", {{"p99", report.stall99Ms}, {"max", report.stallMaxMs}}},
          {"report_ms", report.reportMs},
          {"keeps_up", report.keepsUp()}};
}

std::string benchSwarmText(const SwarmBenchmark::Report& report) {
  std::string text = fmt::format("{:.1f} s, a server on this machine that streams replies\n", report.seconds);
  text += fmt::format("tokens            {:>10.0f}   a second, of {:.0f} wanted\n", report.tokensPerSecond,
                      report.wantedTokensPerSecond);
  text += fmt::format("replies           {:>10.1f}   a second; {} candidates recorded with their conversations\n",
                      report.repliesPerSecond, report.candidates);
  text += fmt::format("not yet taken     {:>10}   bytes at most in the first quarter of the time, {} in the last\n",
                      report.queuedFirst, report.queuedLast);
  text += fmt::format("event loop        {:>10.1f}   ms late in 99 of 100 turns or less, {:.1f} ms at most\n",
                      report.stall99Ms, report.stallMaxMs);
  text +=
      fmt::format("report            {:>10.2f}   ms for what the window is told, 3 times a second\n", report.reportMs);
  return text + (report.keepsUp() ? "the engine keeps up\n" : "the engine does not keep up\n");
}

}  // namespace swage::cli
