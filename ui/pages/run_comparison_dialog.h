// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDialog>

#include <optional>

#include "ui/models/project_session.h"
#include "ui/models/run_comparison.h"
#include "ui/pages/run_picker.h"

class QCheckBox;
class QPushButton;
class QTableView;

namespace swage::ui {

// Two runs of any projects beside each other. Beside it the window can still be used.
class RunComparisonDialog final : public QDialog {
  Q_OBJECT

 public:
  RunComparisonDialog(ProjectSession& session, const services::RecordService& record, QWidget* parent);
  void setProjects(OtherProjects* projects, const ChooseFolder& chooseFolder);
  void compare(const RunRef& left, const RunRef& right);

 Q_SIGNALS:
  // The best candidates of both are to be compared.
  void candidatesRequested(const swage::ui::CandidateRef& left, const swage::ui::CandidateRef& right);

 private:
  [[nodiscard]] QLayout* makeHeader();
  void setUpTable();
  void showRuns();
  void requestCandidates();

  ProjectSession& m_session;
  const services::RecordService& m_record;
  std::optional<RunRef> m_left;
  std::optional<RunRef> m_right;
  RunPicker* m_leftPicker;
  RunPicker* m_rightPicker;
  QCheckBox* m_onlyDifferences;
  ComparisonModel* m_model;
  QTableView* m_table;
  QPushButton* m_candidates;
};

}  // namespace swage::ui
