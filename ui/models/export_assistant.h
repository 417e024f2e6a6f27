// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QString>

#include <filesystem>
#include <optional>
#include <vector>

#include "core/services/export_check_service.h"
#include "core/services/export_service.h"

namespace swage::ui {

// One export from the choice of the candidate to the written files: what is known of it, what would be written and
// where, and whether that may be done. Nothing is written before write(). Answers to questions that are no longer asked
// are dropped. Without widgets; GUI thread only, nothing here waits.
class ExportAssistant final : public QObject {
  Q_OBJECT

 public:
  // `checks` null: nobody can verify again.
  ExportAssistant(const services::ExportService& exporter, services::ExportCheckService* checks,
                  QObject* parent = nullptr);
  ~ExportAssistant() override;

  // Asks everything anew, also for the candidate that is shown. Ends checks of another one.
  void open(const std::filesystem::path& project, domain::CandidateId candidate);
  void setFormat(services::ExportFormat format);
  void setTarget(const QString& target);
  void setReplace(bool replace);
  // A search uses the device and the record.
  void setBusy(bool busy);
  void verify();
  void cancel();
  void write();

  [[nodiscard]] domain::CandidateId candidate() const { return m_candidate; }
  [[nodiscard]] services::ExportFormat format() const { return m_format; }
  [[nodiscard]] const std::optional<services::ExportFacts>& facts() const { return m_facts; }
  [[nodiscard]] const std::vector<services::ExportGate>& gates() const { return m_gates; }
  [[nodiscard]] const std::optional<services::ExportFiles>& files() const { return m_files; }
  // Why there are no files.
  [[nodiscard]] const std::optional<Error>& refusal() const { return m_refusal; }
  [[nodiscard]] const QString& target() const { return m_target; }
  [[nodiscard]] bool isTargetOccupied() const { return m_occupied; }
  [[nodiscard]] bool mayReplace() const { return m_replace; }
  [[nodiscard]] bool isLoading() const { return m_loadingFacts || m_loadingFiles; }
  [[nodiscard]] bool isWriting() const { return m_writing; }
  [[nodiscard]] bool isChecking() const { return m_checking; }
  [[nodiscard]] bool canVerify() const;
  [[nodiscard]] bool hasChecks() const { return m_checks != nullptr; }
  [[nodiscard]] bool isBusy() const { return m_busy; }
  [[nodiscard]] bool canWrite() const;
  // Where it was written since it was last changed; empty: it was not.
  [[nodiscard]] const QString& written() const { return m_written; }

 Q_SIGNALS:
  void factsChanged();
  void gatesChanged();
  void filesChanged();
  void targetChanged();
  void stateChanged();  // of loading, checking and writing, and what may be done
  void wrote(const QString& target);
  void failed(const swage::Error& error);

 private:
  void askFacts();
  void askFiles();
  void showFacts(const Result<services::ExportFacts>& facts);
  void showFiles(const Result<services::ExportFiles>& files);
  void suggestTarget();
  void lookAtTarget();
  void markGate(services::ExportGate::Kind kind, services::ExportGate::State state, const std::string& detail);
  void handleCheckEnded(const domain::Assurance& assurance);
  void handleChecked(domain::CandidateId candidate, const Result<>& done);
  void handleWritten(const QString& target, const Result<>& written);

  const services::ExportService& m_exporter;
  services::ExportCheckService* m_checks;
  std::filesystem::path m_project;
  domain::CandidateId m_candidate;
  services::ExportFormat m_format = services::ExportFormat::ModelNew;
  std::optional<services::ExportFacts> m_facts;
  std::vector<services::ExportGate> m_gates;  // of the facts, and of checks that are going on
  std::optional<services::ExportFiles> m_files;
  std::optional<Error> m_refusal;
  QString m_folder;  // where the user exported to the last time
  QString m_target;
  QString m_written;
  int m_factsAsked = 0;  // generation: what comes for an earlier one is dropped
  int m_filesAsked = 0;
  bool m_targetChosen = false;  // by the user, for this format
  bool m_occupied = false;
  bool m_replace = false;
  bool m_busy = false;
  bool m_loadingFacts = false;
  bool m_loadingFiles = false;
  bool m_writing = false;
  bool m_checking = false;
};

}  // namespace swage::ui
