// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>

#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "app/cli/mcp_archive.h"
#include "app/cli/mcp_jobs.h"
#include "app/cli/mcp_tools.h"
#include "core/domain/json_reader.h"
#include "core/engine/pattern_search.h"

namespace swage::cli {

// The tools of `swage mcp` over one project. Reading is answered at once, also while something is submitted; what takes
// longer is done one after another. Whatever is wrong with a call is an answer of one clear message. One thread only.
class McpHost final : public QObject, public mcp::Host {
  Q_OBJECT

 public:
  struct Options {
    McpAccess access = McpAccess::ReadOnly;
    services::RunSpec spec;  // of a run that open_task may begin; its task is empty: there is none to begin
    run::SessionParts parts;
    process::Locations locations;
  };
  explicit McpHost(Options options, QObject* parent = nullptr);

  [[nodiscard]] std::vector<mcp::Tool> tools() const override { return mcpTools(m_options.access); }
  void call(mcp::ToolCall call) override;
  void cancel(std::int64_t number) override;
  [[nodiscard]] std::vector<mcp::Resource> resources() const override { return m_archive.resources(currentRun()); }
  [[nodiscard]] std::vector<mcp::Resource> templates() const override { return McpArchive::templates(); }
  [[nodiscard]] Result<mcp::ResourceText> read(const std::string& uri) const override { return m_archive.read(uri); }
  void greet(const std::string& clientName) override;

  // Nobody asks any more: what runs is cancelled. becameIdle() follows.
  void stop();

 Q_SIGNALS:
  void becameIdle();

 private:
  // A long call: in the queue, or the first of it and in progress.
  struct Pending {
    mcp::ToolCall call;
    std::function<std::unique_ptr<McpJob>()> make;
    double steps = 0.0;
  };
  using Reader = domain::JsonReader;

  [[nodiscard]] Result<domain::Json> answer(const mcp::ToolCall& call);
  [[nodiscard]] Result<std::optional<domain::Json>> begin(const mcp::ToolCall& call);
  [[nodiscard]] Result<std::optional<domain::Json>> openTask(const mcp::ToolCall& call);
  [[nodiscard]] Result<domain::Json> readArchive(const domain::Json& arguments) const;
  [[nodiscard]] Result<domain::Json> searchPatterns(const domain::Json& arguments);
  [[nodiscard]] Result<domain::Json> exportCandidate(const domain::Json& arguments) const;
  [[nodiscard]] Result<services::EditSpec> submission(const domain::Json& arguments) const;
  [[nodiscard]] Result<> submit(const mcp::ToolCall& call);
  [[nodiscard]] domain::RunId currentRun() const { return m_run.isValid() ? m_run : m_archive.newestRun(); }
  void enqueue(const mcp::ToolCall& call, std::function<std::unique_ptr<McpJob>()> make);
  void startNext();
  void watch(McpJob& job);
  void finish(const Result<domain::Json>& answer);
  [[nodiscard]] Result<domain::Json> submitted(const services::EditOutcome& outcome, const std::string& note) const;

  Options m_options;
  McpArchive m_archive;
  domain::RunId m_run;  // opened; invalid: the newest
  domain::ProposerName m_submitter;
  std::deque<Pending> m_pending;
  std::unique_ptr<McpJob> m_job;
  std::optional<engine::PatternSearch> m_patterns;  // opened by the first question
};

}  // namespace swage::cli
