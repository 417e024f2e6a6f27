// SPDX-License-Identifier: Apache-2.0
#include "app/cli/record_commands.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "app/cli/profile_view.h"
#include "app/cli/rules_view.h"
#include "app/cli/terminal.h"
#include "app/cli/views.h"

namespace swage::cli {
namespace {

Result<domain::CandidateStatus> parseStatus(const std::string& text) {
  if (const auto status = domain::parseCandidateStatus(text)) {
    return *status;
  }
  return Error(ErrorKind::Usage, fmt::format("'{}' is no status of a candidate", text),
               fmt::format("one of: pending, not evaluated, {}", fmt::join(domain::statusNames(), ", ")));
}

constexpr std::int64_t kAll = 1'000'000'000;

services::CandidateColumn columnOf(const std::string& name) {
  static const std::map<std::string, services::CandidateColumn> kColumns = {
      {"id", services::CandidateColumn::Id},
      {"time", services::CandidateColumn::Time},
      {"cell", services::CandidateColumn::Cell},
      {"status", services::CandidateColumn::Status},
      {"operator", services::CandidateColumn::Operator},
      {"island", services::CandidateColumn::Island},
      {"speedup", services::CandidateColumn::Speedup},
      {"error", services::CandidateColumn::Error},
      {"registers", services::CandidateColumn::Registers},
      {"found", services::CandidateColumn::Found}};
  return kColumns.at(name);  // the parser let no other through
}

domain::Json projectJson(const std::filesystem::path& project, const std::vector<services::RunSummary>& runs) {
  domain::Json json = {{"project", project.string()}, {"runs", domain::Json::array()}};
  for (const services::RunSummary& run : runs) {
    json["runs"].push_back(toJson(run));
  }
  return json;
}

}  // namespace

void StatusCommand::start() {
  if (const Result<> shown = show(); !shown) {
    fail(shown.error());
    return;
  }
  Q_EMIT done(wire::ExitCode::Ok);
}

Result<> StatusCommand::show() const {
  std::vector<std::filesystem::path> projects = {context().common.project};
  if (context().common.project.empty()) {
    projects = process::knownProjects();
  }
  domain::Json all = domain::Json::array();
  std::string text;
  for (const std::filesystem::path& project : projects) {
    engine::RecordServiceImpl record;
    SWAGE_TRY(record.open(project));
    SWAGE_TRY_ASSIGN(std::vector<services::RunSummary> runs, record.runs());
    std::sort(runs.begin(), runs.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
    all.push_back(projectJson(project, runs));
    text += project.string() + '\n';
    text += runs.empty() ? "no runs\n" : runTable({runs.back()});
    text += '\n';
  }
  if (form() == OutputForm::Text) {
    print(text.empty() ? "no projects yet\n" : text.substr(0, text.size() - 1));
  } else if (form() == OutputForm::Json) {
    printJson({{"projects", std::move(all)}});
  } else {
    for (const domain::Json& project : all) {
      printJson(project);
    }
  }
  return {};
}

void ListCommand::start() {
  if (const Result<> shown = show(); !shown) {
    fail(shown.error());
    return;
  }
  Q_EMIT done(wire::ExitCode::Ok);
}

Result<services::CandidateQuery> ListCommand::page(const std::vector<services::RunSummary>& runs) const {
  services::CandidateQuery page;
  for (const services::RunSummary& run : runs) {
    if (m_arguments.run ? run.id.value() == m_arguments.run->number : run.id > page.run) {
      page.run = run.id;
    }
  }
  if (!page.run.isValid() && m_arguments.run) {
    return Error(ErrorKind::NotFound, fmt::format("there is no run r{}", m_arguments.run->number),
                 "`swage list` shows the runs");
  }
  if (!m_arguments.status.empty()) {
    SWAGE_TRY_ASSIGN(page.status, parseStatus(m_arguments.status));
  }
  page.filter = m_arguments.filter;
  page.sort = columnOf(m_arguments.sort);
  // The fastest first, by speedup as by time.
  page.descending = (page.sort == services::CandidateColumn::Speedup) != m_arguments.reverse;
  page.limit = m_arguments.limit > 0 ? m_arguments.limit : kAll;
  return page;
}

Result<> ListCommand::show() const {
  SWAGE_TRY_ASSIGN(const std::filesystem::path project, existingProject());
  engine::RecordServiceImpl record;
  SWAGE_TRY(record.open(project));
  SWAGE_TRY_ASSIGN(const std::vector<services::RunSummary> runs, record.runs());
  SWAGE_TRY_ASSIGN(const services::CandidateQuery wanted, page(runs));
  std::vector<services::CandidateRow> rows;
  if (wanted.run.isValid()) {
    SWAGE_TRY_ASSIGN(rows, record.candidates(wanted));
  }
  if (form() == OutputForm::Text) {
    print(project.string() + "\n" + runTable(runs));
    if (!rows.empty()) {
      print(fmt::format("\ncandidates of r{}\n{}", wanted.run.value(), candidateTable(rows)));
    }
    return {};
  }
  domain::Json json = projectJson(project, runs);
  json["candidates"] = domain::Json::array();
  for (const services::CandidateRow& row : rows) {
    if (form() == OutputForm::JsonLines) {
      printJson(toJson(row));
    }
    json["candidates"].push_back(toJson(row));
  }
  if (form() == OutputForm::Json) {
    printJson(json);
  }
  return {};
}

void ShowCommand::start() {
  if (const Result<> shown = show(); !shown) {
    fail(shown.error());
    return;
  }
  Q_EMIT done(wire::ExitCode::Ok);
}

Result<> ShowCommand::show() const {
  SWAGE_TRY_ASSIGN(const std::filesystem::path project, existingProject());
  engine::RecordServiceImpl record;
  SWAGE_TRY(record.open(project));
  SWAGE_TRY_ASSIGN(const services::CandidateDetail detail,
                   record.candidate(domain::CandidateId(m_arguments.candidate.number)));
  SWAGE_TRY_ASSIGN(const std::vector<domain::Assurance> assurances, record.assurances(detail.row.id));
  SWAGE_TRY_ASSIGN(const std::vector<std::string> doubts, record.doubts(detail.row.run));
  SWAGE_TRY_ASSIGN(const std::optional<domain::Profile> profile, record.profile(detail.row.id));
  SWAGE_TRY_ASSIGN(const judge::RuleBook rules,
                   judge::RuleBook::load(process::ruleFolders(context().locations, project)));
  SWAGE_TRY_ASSIGN(const std::vector<domain::Advice> advice, record.advice(detail.row.id, rules));
  if (form() != OutputForm::Text) {
    domain::Json json = toJson(detail);
    json["advice"] = domain::Json::array();
    for (const domain::Advice& one : advice) {
      json["advice"].push_back(judge::toJson(one));
    }
    json["doubts"] = doubts;
    json["assurances"] = domain::Json::array();
    for (const domain::Assurance& assurance : assurances) {
      json["assurances"].push_back(domain::toJson(assurance));
    }
    json["profile"] = profile ? domain::toJson(*profile) : domain::Json();
    printJson(json);
    return {};
  }
  if (m_arguments.source) {
    print(forOutput(detail.program.source) + (detail.program.source.ends_with('\n') ? "" : "\n"));
    return {};
  }
  print(candidateText(detail) + trustText(assurances, doubts) + (profile ? profileText(*profile) : std::string()) +
        adviceText(advice));
  if (m_arguments.assembly) {
    print("\n" + forOutput(detail.assembly) + "\n");
  }
  return {};
}

}  // namespace swage::cli
