// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/domain/json.h"
#include "core/domain/task.h"
#include "core/engine/record_service_impl.h"
#include "core/mcp/server.h"
#include "core/process/locations.h"

namespace swage::cli {

// What an agent reads of one project, as JSON in limits (mcp_text.h). Opens the record for every question, so that what
// others write meanwhile is seen. One thread only; answers take milliseconds.
class McpArchive {
 public:
  McpArchive(process::Locations locations, std::filesystem::path project)
      : m_locations(std::move(locations)), m_project(std::move(project)) {}

  [[nodiscard]] const std::filesystem::path& project() const { return m_project; }
  // Invalid: the project has none, or is not there yet.
  [[nodiscard]] domain::RunId newestRun() const;
  // The run with its task, device and baselines, and how a kernel for it is written. NotFound: there is no such run.
  [[nodiscard]] Result<domain::Json> task(domain::RunId run) const;

  struct Page {
    std::optional<int> island;
    std::string filter;
    int limit = 20;
  };
  // Cells that something was tried in, and the best candidates that match.
  [[nodiscard]] Result<domain::Json> archive(domain::RunId run, const Page& page) const;
  [[nodiscard]] Result<domain::Json> candidate(domain::CandidateId id) const;
  [[nodiscard]] Result<domain::Json> advice(domain::CandidateId id) const;
  [[nodiscard]] Result<domain::Json> comparison(domain::CandidateId a, domain::CandidateId b) const;
  // Without `folder` the files' contents, else they are written into it and named.
  [[nodiscard]] Result<domain::Json> exported(domain::CandidateId id, services::ExportFormat format,
                                              const std::filesystem::path& folder) const;

  [[nodiscard]] std::vector<mcp::Resource> resources(domain::RunId run) const;
  [[nodiscard]] static std::vector<mcp::Resource> templates();
  // NotFound: there is none of that address.
  [[nodiscard]] Result<mcp::ResourceText> read(const std::string& uri) const;

  // Of a run, for reading what is submitted.
  struct Target {
    domain::CandidateId anchor;  // PyTorch's own operators: the run's first candidate
    domain::Language language = domain::Language::Cpp;
    domain::Task task;
  };
  [[nodiscard]] Result<Target> target(domain::RunId run) const;

 private:
  [[nodiscard]] Result<engine::RecordServiceImpl> open() const;
  [[nodiscard]] Result<std::vector<domain::Advice>> adviceOf(const engine::RecordServiceImpl& record,
                                                             domain::CandidateId id) const;
  [[nodiscard]] Result<std::optional<std::string>> planText(const services::CandidateDetail& detail) const;

  process::Locations m_locations;
  std::filesystem::path m_project;
};

}  // namespace swage::cli
