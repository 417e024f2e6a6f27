// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QLineEdit>
#include <QStringList>
#include <QTimer>
#include <QWidget>

#include <optional>

#include "core/domain/filter.h"
#include "ui/widgets/theme.h"

class QCompleter;
class QLabel;
class QMenu;
class QStandardItemModel;

namespace swage::ui {

// A line for the filter language: completes keys and their words, marks what is wrong where it is wrong and says why
// below, and remembers filters that were used (Up and Down, or the menu at its end). A filter takes effect when typing
// rests or with Enter; a wrong one leaves the last good one in force.
class FilterEdit final : public QWidget {
  Q_OBJECT

 public:
  explicit FilterEdit(domain::FilterVocabulary vocabulary, QWidget* parent = nullptr);
  void setTheme(const Theme& theme);

  [[nodiscard]] QString text() const { return m_edit->text(); }
  void setText(const QString& text);  // takes effect at once
  void setPlaceholder(const QString& text) { m_edit->setPlaceholderText(text); }
  [[nodiscard]] const domain::Filter& filter() const { return m_filter; }
  [[nodiscard]] QString error() const;

  // Newest first.
  [[nodiscard]] const QStringList& history() const { return m_history; }
  void setHistory(const QStringList& history);

 Q_SIGNALS:
  void filterChanged(const swage::domain::Filter& filter);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void apply();
  void accept();
  void remember();
  void recall(int step);
  void showError(const std::optional<domain::FilterError>& error);
  void markError(int begin, int length);
  void offerCompletions();
  void complete(const QString& word);
  void fillCompletions(const QString& key);
  void fillHistoryMenu();

  domain::FilterVocabulary m_vocabulary;
  QLineEdit* m_edit;
  QLabel* m_error;
  QCompleter* m_completer;
  QStandardItemModel* m_words;
  QMenu* m_historyMenu;
  QAction* m_historyAction;
  QTimer m_rest;
  Theme m_theme = Theme::light();
  domain::Filter m_filter;
  QStringList m_history;
  int m_recalled = -1;  // of m_history; -1: what is being typed
  QString m_typed;
  bool m_marking = false;
};

}  // namespace swage::ui
