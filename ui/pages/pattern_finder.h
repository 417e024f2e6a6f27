// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFutureWatcher>
#include <QTimer>
#include <QWidget>

#include "core/services/pattern_search_service.h"
#include "ui/widgets/theme.h"

class QLabel;
class QLineEdit;
class QSplitter;
class QTableView;

namespace swage::ui {

class EmptyState;
class FoundPatternModel;
class KernelView;

// Asks for what is known on this machine in a person's words: a field, what was found, and the chosen piece. A question
// is asked when the keys have rested, or by Enter.
class PatternFinder final : public QWidget {
  Q_OBJECT

 public:
  // `search` outlives this.
  explicit PatternFinder(services::PatternSearchService& search, QWidget* parent = nullptr);
  ~PatternFinder() override;
  void setTheme(const Theme& theme);
  [[nodiscard]] QString question() const;
  void ask(const QString& question);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  [[nodiscard]] QWidget* makeList();
  [[nodiscard]] QWidget* makeDetail();
  void begin();
  void showFound();
  void showCurrent();

  services::PatternSearchService& m_search;
  FoundPatternModel* m_model;
  QLineEdit* m_field;
  QTableView* m_table;
  EmptyState* m_tableOrEmpty = nullptr;
  QSplitter* m_splitter;
  QLabel* m_title;
  QLabel* m_facts;
  KernelView* m_body;
  EmptyState* m_detailOrEmpty = nullptr;
  QTimer m_rest;
  QFutureWatcher<Result<services::FoundPatterns>> m_answer;
  bool m_hasAnswered = false;  // the first answer may take seconds
};

}  // namespace swage::ui
