// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QFuture>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/domain/candidate.h"
#include "core/domain/evaluation.h"
#include "core/domain/speedup.h"

namespace swage::services {

enum class ExportFormat : std::uint8_t {
  ModelNew,  // one Python file
  Project,   // a folder that stands on its own
};
[[nodiscard]] std::string_view name(ExportFormat format);  // "modelnew", "project"
[[nodiscard]] std::optional<ExportFormat> parseExportFormat(std::string_view text);

// One thing that was, or was not, found out about a candidate before it leaves.
struct ExportGate {
  enum class Kind : std::uint8_t {
    Verified,       // on the seeds of the task, against float64
    HardInputs,     // inputs that are hard to compute with, and other weights
    HeldBackSeeds,  // that no earlier check used
    Sanitizer,      // compute-sanitizer's tools
    FreshProcess,   // evaluated again by another process
    Faster,         // than every comparable baseline by more than the measurements are uncertain
    HeldOutShapes,  // the task at other sizes
  };
  // NotApplicable: there is nothing to find out. Running never comes from the record.
  enum class State : std::uint8_t { Passed, Failed, NotRun, NotApplicable, Running };

  Kind kind = Kind::Verified;
  State state = State::NotRun;
  int checks = 0;                                // how many inputs were tried; 0: not counted
  std::optional<domain::OutputError> worst{};    // the largest error of them
  std::optional<domain::PairedTiming> timing{};  // Faster: what was measured
  domain::Speedup speedup{};                     // Faster: against the fastest baseline
  std::string baselineMode{};                    // Faster: which baseline that is
  domain::Speedup overEager{};                   // Faster: against eager, where that is another baseline
  std::string detail{};                          // in the words of the record
};
[[nodiscard]] std::string_view name(ExportGate::Kind kind);    // in JSON: "verified", "held-out shapes"
[[nodiscard]] std::string_view title(ExportGate::Kind kind);   // for people: "verified", "other shapes"
[[nodiscard]] std::string_view name(ExportGate::State state);  // "passed", "not run"
// Whether the candidate must not leave: it is not right. A gate that fails otherwise limits what the export is good
// for.
[[nodiscard]] bool blocksExport(const ExportGate& gate);

struct ExportFact {
  std::string label;
  std::string value;
};

// What is known of a candidate before it is exported.
struct ExportFacts {
  domain::CandidateId candidate;
  std::string taskName;
  std::vector<ExportGate> gates;       // each kind once, in the order of the enumeration
  std::vector<ExportFact> provenance;  // as the head of the exported file has it
};

struct ExportFile {
  std::string name;  // inside the folder; of a single file what it could be called
  std::string content;
};

// What would be written.
struct ExportFiles {
  domain::CandidateId candidate;
  ExportFormat format = ExportFormat::ModelNew;
  std::string suggestedName;  // of the file, or of the folder
  std::vector<ExportFile> files;
};

// Keep: something that the export would replace or stand beside is a reason not to write.
enum class ExistingFiles : std::uint8_t { Keep, Replace };

// Writes candidates as files that the user owns. Every answer comes from a thread of the service's own, after
// milliseconds to seconds, and the questions of one service are answered in their order.
class ExportService {
 public:
  virtual ~ExportService() = default;
  [[nodiscard]] virtual QFuture<Result<ExportFacts>> facts(const std::filesystem::path& project,
                                                           domain::CandidateId candidate) const = 0;
  // Refuses a candidate with a gate that blocksExport(). Writes nothing.
  [[nodiscard]] virtual QFuture<Result<ExportFiles>> files(const std::filesystem::path& project,
                                                           domain::CandidateId candidate,
                                                           ExportFormat format) const = 0;
  // `target` is the file, or the folder, which is made.
  [[nodiscard]] virtual QFuture<Result<>> write(const ExportFiles& files, const std::filesystem::path& target,
                                                ExistingFiles existing) const = 0;
};

}  // namespace swage::services
