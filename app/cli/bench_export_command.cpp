// SPDX-License-Identifier: Apache-2.0
#include "app/cli/bench_export_command.h"

#include <algorithm>

#include <fmt/format.h>

namespace swage::cli {
namespace {

using engine::ExportBenchmark;
using Cost = ExportBenchmark::Cost;

domain::Json costJson(const Cost& cost) {
  return {{"call_us", cost.callUs},
          {"launch_us", cost.launchUs},
          {"guard_us", cost.guardUs},
          {"keeps_limit", cost.keepsLimit()}};
}

domain::Json costJson(const std::optional<Cost>& cost) {
  return cost ? costJson(*cost) : domain::Json();
}

std::string costLine(std::string_view label, const Cost& cost, std::string_view bare) {
  return fmt::format("  {:<18}{:>8.2f} us   a call takes {:.2f} us, {} {:.2f} us\n", label, cost.guardUs, cost.callUs,
                     bare, cost.launchUs);
}

std::string deviceText(const ExportBenchmark::DeviceReport& report) {
  std::string text = fmt::format("{}, median of {} warm calls of an exported kernel\n", report.device, report.calls);
  text += costLine("guard", report.eager, "the bare launch");
  if (report.compiled) {
    text += costLine("in torch.compile", *report.compiled, "the original");
  } else {
    text += fmt::format("  {:<18}not measured: {}\n", "in torch.compile", report.compiledFailure);
  }
  if (report.graph) {
    text += costLine("in a CUDA graph", *report.graph, "the bare launch");
  }
  return text;
}

}  // namespace

void BenchExportCommand::start() {
  m_benchmark = std::make_unique<ExportBenchmark>(context().parts.programs,
                                                  ExportBenchmark::Options{m_arguments.target, m_arguments.calls});
  connect(m_benchmark.get(), &ExportBenchmark::finished, this, &BenchExportCommand::show);
  m_benchmark->start();
}

void BenchExportCommand::interrupt(int signal, int count) {
  m_signal = signal;
  if (m_benchmark && count == 1) {
    m_benchmark->cancel();
  } else {
    Command::interrupt(signal, count);
  }
}

void BenchExportCommand::show(const Result<ExportBenchmark::Report>& report) {
  if (m_signal != 0) {
    Q_EMIT done(exitCodeForSignal(m_signal));
  } else if (!report) {
    fail(report.error());
  } else {
    if (form() == OutputForm::Text) {
      print(benchExportText(*report));
    } else {
      printJson(toJson(*report));
    }
    Q_EMIT done(wire::ExitCode::Ok);
  }
}

domain::Json toJson(const ExportBenchmark::Report& report) {
  domain::Json json = {{"limit_us", ExportBenchmark::kLimitUs}, {"devices", domain::Json::array()}};
  for (const ExportBenchmark::DeviceReport& device : report) {
    json["devices"].push_back(
        {{"device", device.device},
         {"calls", device.calls},
         {"eager", costJson(device.eager)},
         {"compiled", costJson(device.compiled)},
         {"compiled_failure", device.compiledFailure.empty() ? domain::Json() : domain::Json(device.compiledFailure)},
         {"graph", costJson(device.graph)},
         {"keeps_limit", device.keepsLimit()}});
  }
  return json;
}

std::string benchExportText(const ExportBenchmark::Report& report) {
  std::string text;
  for (const ExportBenchmark::DeviceReport& device : report) {
    text += deviceText(device);
  }
  const bool keeps = std::all_of(report.begin(), report.end(), [](const auto& device) { return device.keepsLimit(); });
  return text + fmt::format("The checks of an export {} the limit of {:g} us a call.\n", keeps ? "keep" : "exceed",
                            ExportBenchmark::kLimitUs);
}

}  // namespace swage::cli
