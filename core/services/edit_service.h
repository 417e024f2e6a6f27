// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>

#include <cstdint>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "core/base/result.h"
#include "core/domain/candidate.h"
#include "core/services/types.h"

namespace swage::services {

// What may be edited of one kernel step of a launch plan.
struct LaunchSize {
  domain::Dim3 grid;
  domain::Dim3 block;
  std::uint32_t dynamicSharedBytes = 0;
  friend bool operator==(const LaunchSize&, const LaunchSize&) = default;
};

// Another source under the launch plan of the candidate it was made from.
struct SourceEdit {
  std::string source;
  std::vector<LaunchSize> launches{};  // one for each kernel step, in order; empty: as they are
};

// Other parameters or patterns: source and plan are written anew.
struct ParameterEdit {
  domain::Genome genome;
};

// Another program for the task, by somebody who has a name of their own in the record.
struct ProgramEdit {
  domain::Program program;
  domain::ProposerName madeBy = domain::OperatorKind::Human;
  bool isVariant = true;  // of the candidate it stands beside, which is then its parent
  std::string note{};     // how it was thought of
};

struct EditSpec {
  std::filesystem::path project;
  domain::CandidateId parent;  // of whose run the edit becomes a candidate
  std::variant<SourceEdit, ParameterEdit, ProgramEdit> change;
};

// What became of an edit.
struct EditOutcome {
  CandidateDetail detail;  // the new candidate, as recorded
  bool isElite = false;    // the fastest of its cell
  bool isWinner = false;   // and the best of its run
};

// One number of a pattern, with what it may be.
struct ParameterRange {
  std::string name;
  std::string description;
  std::vector<std::int64_t> values;  // ascending
  std::int64_t value = 0;            // the candidate's; may lie outside of `values` in an old record
  std::int64_t standard = 0;
};

// One region of a genome.
struct RegionParameters {
  std::string pattern;
  std::string description;
  std::vector<int> nodes;
  std::vector<ParameterRange> parameters;
};

// Makes candidates out of what a person edits: compiled, verified, timed and recorded like any other, with the operator
// "human" (or as ProgramEdit says) and the edited candidate as its parent. Needs no search, and refuses with
// ErrorKind::Locked while one writes the project. Lives on the GUI thread; nothing here blocks.
class EditService : public QObject {
  Q_OBJECT

 public:
  using QObject::QObject;

  // Ends with exactly one finished(), also when it cannot start. Asserts that none is in progress.
  virtual void evaluate(const EditSpec& spec) = 0;
  virtual void cancel() = 0;
  [[nodiscard]] virtual bool isActive() const = 0;

  // The regions of a candidate's genome, in order, with what their patterns allow.
  [[nodiscard]] virtual Result<std::vector<RegionParameters>> regions(domain::Language language,
                                                                      const domain::Genome& genome) const = 0;

 Q_SIGNALS:
  void stageChanged(const std::string& stage);
  void finished(const swage::Result<swage::services::EditOutcome>& outcome);
};

}  // namespace swage::services
