// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QJsonObject>
#include <QWidget>

#include "core/services/pattern_search_service.h"
#include "core/services/pattern_service.h"
#include "ui/widgets/theme.h"

class QLabel;
class QLineEdit;
class QSortFilterProxyModel;
class QSplitter;
class QTabWidget;
class QTableView;

namespace swage::ui {

class EmptyState;
class KernelView;
class ParameterTableModel;
class PatternFinder;
class PatternTableModel;

// The catalogue of patterns: what there is, what its manifest says, what can be tuned, and the source. Beside it, a
// search over all that is known on this machine. Lies down where it is wide, stands where it is narrow.
class PatternsPage final : public QWidget {
  Q_OBJECT

 public:
  // `search`: over what else is known on this machine; null: there is only the catalogue.
  explicit PatternsPage(const services::PatternService& patterns, services::PatternSearchService* search = nullptr,
                        QWidget* parent = nullptr);
  void setTheme(const Theme& theme);
  // Reads the catalogue anew.
  void refresh();
  void select(const QString& language, const QString& id);
  [[nodiscard]] const PatternTableModel& model() const { return *m_model; }
  [[nodiscard]] QJsonObject saveState() const;
  void restoreState(const QJsonObject& state);

 protected:
  void resizeEvent(QResizeEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  [[nodiscard]] QWidget* makeList();
  [[nodiscard]] QWidget* makeDetail();
  void applySearch();
  void fitParameters();
  void showCurrent();

  const services::PatternService& m_patterns;
  PatternTableModel* m_model;
  ParameterTableModel* m_parameters;
  QSortFilterProxyModel* m_filter;
  QLineEdit* m_search;
  QTableView* m_table = nullptr;
  EmptyState* m_tableOrEmpty = nullptr;
  QSplitter* m_splitter;
  QLabel* m_title;
  QLabel* m_facts;
  EmptyState* m_detailOrEmpty = nullptr;
  QTableView* m_parameterTable = nullptr;
  KernelView* m_source;
  QTabWidget* m_scopes = nullptr;     // null: without a finder
  PatternFinder* m_finder = nullptr;  // null: there is none
};

}  // namespace swage::ui
