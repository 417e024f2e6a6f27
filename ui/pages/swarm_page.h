// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QJsonObject>
#include <QWidget>

#include <vector>

#include "ui/models/swarm_activity.h"
#include "ui/widgets/theme.h"

class QLabel;
class QPushButton;
class QTabWidget;
class QTableView;

namespace swage::ui {

class AdviceView;
class EmptyState;
class PairControls;
class PairTableModel;
class SpendingView;
class TalkView;

// The pairs of a coder and a judge: what each does and has earned, what it was advised, what models were asked, and
// what that cost. A pair can be paused, given a role or told something. Of a run that is over, what its record has of
// that. The window calls it "Agents".
class SwarmPage final : public QWidget {
  Q_OBJECT

 public:
  // All of them outlive this.
  SwarmPage(ProjectSession& session, services::RunService& run, services::SwarmService& swarm,
            QWidget* parent = nullptr);
  void setTheme(const Theme& theme);
  [[nodiscard]] QJsonObject saveState() const;
  // Prompts that a person has to answer, of the run in progress.
  [[nodiscard]] std::vector<services::WaitingPrompt> waiting() const;
  void restoreState(const QJsonObject& state);
  // What a language model was asked and replied when it made a candidate of the shown run.
  void showTalk(domain::CandidateId candidate);

 Q_SIGNALS:
  void candidateOpened();    // the one that is selected now
  void settingsRequested();  // of language models
  void exchangeRequested();  // a prompt waits for a person's reply

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  [[nodiscard]] QWidget* makePairs();
  [[nodiscard]] QWidget* makeHead();
  void showReport();
  void showHead();
  void showControls();
  void openCandidate(domain::CandidateId candidate);

  ProjectSession& m_session;
  services::SwarmService& m_swarm;
  SwarmActivity m_activity;
  PairTableModel* m_pairs;
  QTableView* m_table;
  PairControls* m_controls;
  AdviceView* m_advice;
  TalkView* m_talks;
  SpendingView* m_spending;
  QTabWidget* m_tabs;
  QLabel* m_summary;
  QLabel* m_waiting;
  QPushButton* m_answer;
  EmptyState* m_empty = nullptr;
  bool m_isFitted = false;
};

}  // namespace swage::ui
