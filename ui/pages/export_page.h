// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include <functional>

#include "ui/models/export_assistant.h"
#include "ui/models/project_session.h"
#include "ui/widgets/theme.h"

class QComboBox;
class QLabel;
class QListWidget;
class QSplitter;
class QTableView;

namespace swage::ui {

class ExportGates;
class ExportTarget;
class FactModel;
class FilePreview;
class NoticeBanner;

struct ExportServices {
  const services::ExportService& exporter;
  services::ExportCheckService* checks = nullptr;  // null: nobody can verify again
};

// Exports the selected candidate, or what the shown run has found: its best, or PyTorch where that wins. Formats and
// provenance at the left, what was checked and what would be written at the right, the place below. Nothing is written
// before the user says so.
class ExportPage final : public QWidget {
  Q_OBJECT

 public:
  // Asks for another place than `current`; the answer comes by the function, or never.
  using ChooseTarget = std::function<void(QWidget* parent, services::ExportFormat format, const QString& current,
                                          const std::function<void(const QString&)>& chosen)>;

  ExportPage(ProjectSession& session, const ExportServices& services, QWidget* parent = nullptr);
  void setTheme(const Theme& theme);
  void setChooseTarget(ChooseTarget choose) { m_choose = std::move(choose); }
  // Offers what is selected now. False: there is nothing to export.
  [[nodiscard]] bool open();
  [[nodiscard]] ExportAssistant& assistant() { return m_assistant; }

 Q_SIGNALS:
  void wrote(swage::domain::CandidateId candidate, const QString& target);
  void closeRequested();

 private:
  [[nodiscard]] QWidget* makeSide();
  [[nodiscard]] QTableView* makeProvenance();
  [[nodiscard]] QWidget* makeMain();
  void connectParts();
  void offer(domain::CandidateId id, const QString& what);
  void chooseCandidate(int index);
  void chooseFormat(int row);
  void browse();
  void showFacts();
  void showFiles();
  void showFailure(const Error& error);

  ProjectSession& m_session;
  ExportAssistant m_assistant;
  QComboBox* m_candidates;
  QListWidget* m_formats;
  QLabel* m_purpose;
  FactModel* m_facts;
  QTableView* m_provenance;
  ExportGates* m_gates;
  FilePreview* m_preview;
  ExportTarget* m_target;
  NoticeBanner* m_banner;
  ChooseTarget m_choose;
};

}  // namespace swage::ui
