// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include <functional>

#include "core/services/swarm_service.h"
#include "ui/widgets/theme.h"

class QLabel;
class QLineEdit;
class QPushButton;
class QSplitter;
class QTableView;

namespace swage::ui {

class EmptyState;
class KernelView;
class TalkTableModel;

// What was said with models: one row for each candidate that came of it, and beside them prompt and reply, to read and
// to search in. Lies down where it is wide, stands where it is narrow.
class TalkView final : public QWidget {
  Q_OBJECT

 public:
  using Fetch = std::function<QFuture<Result<services::Talk>>(domain::CandidateId candidate)>;

  explicit TalkView(Fetch fetch, QWidget* parent = nullptr);
  void setTheme(const Theme& theme);
  void setReport(const services::SwarmReport& report);
  // What led to this candidate, also where it is not in the list. Its row is selected, now or once the list has it.
  void open(domain::CandidateId candidate);
  // Another run: nothing of the one before is read any more.
  void clear();

 Q_SIGNALS:
  void candidateChosen(swage::domain::CandidateId candidate);
  void settingsRequested();

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  [[nodiscard]] QWidget* makeList();
  [[nodiscard]] QWidget* makeReader();
  void applySearch();
  void openCurrent();
  void selectWanted();
  void read(domain::CandidateId candidate);
  void showTalk(const Result<services::Talk>& talk);

  Fetch m_fetch;
  TalkTableModel* m_model;
  QLineEdit* m_search;
  QTableView* m_table;
  EmptyState* m_tableOrEmpty = nullptr;
  EmptyState* m_allOrEmpty = nullptr;
  QSplitter* m_splitter;
  QLabel* m_title;
  QPushButton* m_open;
  KernelView* m_prompt;
  KernelView* m_reply;
  EmptyState* m_readerOrEmpty = nullptr;
  domain::CandidateId m_shown;
  domain::CandidateId m_wanted;  // its row is to be selected
  bool m_isFitted = false;
};

}  // namespace swage::ui
