// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QJsonArray>
#include <QJsonObject>
#include <QObject>

#include <optional>
#include <string>
#include <vector>

#include "core/services/profile_service.h"
#include "ui/models/delta.h"
#include "ui/models/project_session.h"

namespace swage::ui {

// What candidates are compared with.
struct Pin {
  enum class Kind : std::uint8_t { Nothing, Baseline, Candidate };
  Kind kind = Kind::Nothing;
  std::string mode;               // of a baseline: "eager", "compile"
  domain::CandidateId candidate;  // of a candidate
  friend bool operator==(const Pin&, const Pin&) = default;
};

// The numbers of what is pinned.
struct PinnedNumbers {
  QString name;
  DeltaInterval time;
  double leastNs = 0.0;
  std::optional<services::ProfileReport> report;  // of a candidate that was profiled
  std::optional<services::CandidateDetail> detail;
};

[[nodiscard]] DeltaInterval intervalOf(const domain::Timing& timing);
[[nodiscard]] DeltaInterval intervalOf(const services::CandidateRow& row);

// One pinned baseline for the whole window, so that all pages show deltas against the same. A run that is shown begins
// with its own fastest baseline, or with what the user pinned for it. GUI thread only; failures of the record are
// reported by the session.
class PinnedBaseline final : public QObject {
  Q_OBJECT

 public:
  struct Choice {
    QString name;
    Pin pin;
  };

  PinnedBaseline(ProjectSession& session, const services::RecordService& record,
                 const services::ProfileService& profiles, QObject* parent = nullptr);

  void pin(const Pin& pin);
  void pinCandidate(domain::CandidateId candidate);
  [[nodiscard]] const Pin& pinned() const { return m_pin; }
  // No value: nothing is pinned, or it has no time.
  [[nodiscard]] const std::optional<PinnedNumbers>& numbers() const { return m_numbers; }
  // Nothing, every baseline of the run that worked, and the pinned candidate if one is.
  [[nodiscard]] std::vector<Choice> choices() const;

  // What the user pinned, for the runs that were shown last.
  [[nodiscard]] QJsonObject saveState() const;
  void restoreState(const QJsonObject& state);

 Q_SIGNALS:
  void changed();

 private:
  void handleRun();
  [[nodiscard]] QJsonObject keyOfRun() const;
  [[nodiscard]] std::optional<Pin> keptPin() const;
  void keep();
  void handleBaselines();
  void reload();
  [[nodiscard]] std::optional<PinnedNumbers> baselineNumbers() const;
  [[nodiscard]] std::optional<PinnedNumbers> candidateNumbers() const;

  ProjectSession& m_session;
  const services::RecordService& m_record;
  const services::ProfileService& m_profiles;
  Pin m_pin;
  bool m_chosen = false;  // by the user, for this run
  QJsonArray m_kept;      // what was chosen, the newest last
  std::optional<PinnedNumbers> m_numbers;
};

}  // namespace swage::ui
