// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>
#include <QJsonObject>
#include <QPointer>
#include <QWidget>

#include "core/services/record_service.h"
#include "ui/models/annotation_editor.h"
#include "ui/models/project_session.h"
#include "ui/widgets/theme.h"

class QCheckBox;
class QComboBox;
class QMenu;
class QTableView;
class QToolButton;

namespace swage::ui {

class AnnotationBar;
class CandidateTableModel;
class CsvExport;
class CandidateDelegate;
class CandidateMenu;
class ElidedLabel;
class EmptyState;
class FilterEdit;

// Every candidate of the shown run, sorted and filtered by the record, and what is said about those that are chosen.
class CandidatesPage final : public QWidget {
  Q_OBJECT

 public:
  CandidatesPage(ProjectSession& session, services::RecordService& record, QWidget* parent = nullptr);
  void setTheme(const Theme& theme);

  // For the menu Edit of the window.
  [[nodiscard]] QUndoStack& undoStack() { return m_editor.undoStack(); }
  // Through which every page says something about candidates, so that all of it can be undone in one order.
  [[nodiscard]] AnnotationEditor& annotations() { return m_editor; }
  void setMenu(CandidateMenu* menu) { m_menu = menu; }
  void focusFilter();
  void setFilterText(const QString& text);

  // Columns, their order and widths, the order of rows, groups and the filters that were used. Unreadable state is
  // ignored.
  [[nodiscard]] QJsonObject saveState() const;
  void restoreState(const QJsonObject& state);

  // Writes what the table lists now.
  void exportCsv(const QString& file);
  void cancelExport();

 Q_SIGNALS:
  void candidateOpened();
  void lineageRequested();
  // The user wants a CSV file and has to be asked where; exportCsv() goes on.
  void exportRequested(const QString& suggestion);
  void exportProgressed(qsizetype done, qsizetype total);
  void exportFinished(const swage::Result<>& result);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  [[nodiscard]] QWidget* makeFilters();
  void nameFilters();
  void connectFilters();
  void fillPresets();
  void setUpTable();
  void setUpHeader();
  void setUpActions();
  void fillColumnMenu(QMenu& menu);
  void showContextMenu(const QPoint& position);
  void foldOrOpen(const QModelIndex& index);
  void foldByClick(const QModelIndex& index);
  [[nodiscard]] bool foldByKey(int key);
  void showUsefulColumns();
  void keepSortable(int column, Qt::SortOrder order);
  void showRun();
  void refresh();
  void applyStatusFilter();
  void applyCellFilter();
  void updateCounts();
  void chooseRow(const QModelIndex& index);
  void showSelection();
  void showChosen();

  ProjectSession& m_session;
  services::RecordService& m_record;
  AnnotationEditor m_editor;
  CandidateTableModel* m_model;
  QTableView* m_table;
  EmptyState* m_empty;
  CandidateDelegate* m_delegate;
  FilterEdit* m_filter;
  QToolButton* m_presets;
  QComboBox* m_status;
  QComboBox* m_groups;
  QCheckBox* m_onlyCell;
  ElidedLabel* m_count;
  QToolButton* m_columns;
  QToolButton* m_export;
  AnnotationBar* m_annotations;
  CandidateMenu* m_menu = nullptr;
  QList<QAction*> m_annotationActions;
  QPointer<CsvExport> m_csv;
  std::filesystem::path m_project;
  int m_sortColumn = 0;
  Qt::SortOrder m_sortOrder = Qt::DescendingOrder;
  int m_cellShown = -1;  // by the filter for one cell
  bool m_showingSelection = false;
  bool m_choseRegisters = false;  // the user has said whether that column is shown
};

}  // namespace swage::ui
