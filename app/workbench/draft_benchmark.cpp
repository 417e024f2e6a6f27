// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/workbench/draft_benchmark.h"

#include <QElapsedTimer>
#include <QEventLoop>

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "app/workbench/benchmark.h"
#include "ui/models/draft_compiler.h"

namespace swage::workbench {
namespace {

// Compiles drafts for what one request says, without a record.
class RequestedDrafts final : public services::CompileService {
 public:
  RequestedDrafts(services::CompileService& answers, std::function<std::uint64_t(domain::CompileRequest)> forward,
                  domain::CompileRequest request)
      : m_forward(std::move(forward)), m_request(std::move(request)) {
    connect(&answers, &services::CompileService::compiled, this, &services::CompileService::compiled);
  }
  [[nodiscard]] std::uint64_t compile(const services::DraftSource& draft) override {
    m_request.source = draft.source;
    return m_forward(m_request);
  }
  void cancel() override {}

 private:
  std::function<std::uint64_t(domain::CompileRequest)> m_forward;
  domain::CompileRequest m_request;
};

struct TimedDraft {
  double ms = 0.0;  // from setDraft() to the listing
  std::int64_t lines = 0;
};

Result<TimedDraft> timeDraft(ui::DraftCompiler& compiler, const std::string& source) {
  QEventLoop loop;
  QObject::connect(&compiler, &ui::DraftCompiler::changed, &loop, [&compiler, &loop] {
    if (compiler.outcome()) {
      loop.quit();
    }
  });
  QElapsedTimer clock;
  clock.start();
  compiler.setDraft({.project = {}, .parent = {}, .source = source});
  loop.exec();
  const double took = static_cast<double>(clock.nsecsElapsed()) / 1e6;
  const Result<domain::CompileOutcome>& outcome = *compiler.outcome();
  if (!outcome) {
    return outcome.error();
  }
  if (const auto* failed = std::get_if<domain::CompileFailed>(&*outcome)) {
    return Error(ErrorKind::InvalidInput, "the benchmark's source does not compile: " + failed->log);
  }
  const std::string& assembly = std::get<domain::CompiledBinary>(*outcome).assembly;
  if (assembly.empty()) {
    return Error(ErrorKind::Internal, "the compiler gave no assembly");
  }
  return TimedDraft{took, std::count(assembly.begin(), assembly.end(), '\n')};
}

}  // namespace

Result<DraftTimes> measureDrafts(services::CompileService& answers,
                                 const std::function<std::uint64_t(domain::CompileRequest)>& forward,
                                 const domain::CompileRequest& request, int drafts) {
  RequestedDrafts service(answers, forward, request);
  ui::DraftCompiler compiler(&service);
  DraftTimes times;
  std::vector<double> others;
  for (int i = 0; i <= drafts; ++i) {
    SWAGE_TRY_ASSIGN(const TimedDraft draft, timeDraft(compiler, request.source + fmt::format("\n// draft {}\n", i)));
    times.assemblyLines = draft.lines;
    if (i == 0) {
      times.firstMs = draft.ms;
    } else {
      others.push_back(draft.ms);
    }
  }
  times.drafts = drafts;
  times.medianMs = percentile(others, 0.5);
  times.maxMs = percentile(others, 1.0);
  return times;
}

}  // namespace swage::workbench
