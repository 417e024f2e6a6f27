// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include <vector>

#include "core/services/types.h"
#include "ui/widgets/theme.h"

class QLabel;
class QLineEdit;
class QToolButton;

namespace swage::ui {

// What is said about the chosen candidates, and where it is changed: a pin, tags, a note, the trash. Of one candidate
// it shows everything; to several, tags are added ("promising"), or taken away with a minus ("-promising").
class AnnotationBar final : public QWidget {
  Q_OBJECT

 public:
  explicit AnnotationBar(QWidget* parent = nullptr);
  void setTheme(const Theme& theme);

  // The ids of all that are chosen; `first` is the row of the first one, null when none is.
  void setChosen(std::vector<domain::CandidateId> ids, const services::CandidateRow* first);
  [[nodiscard]] const std::vector<domain::CandidateId>& chosen() const { return m_ids; }

  void togglePin();
  void toggleTrash();
  void editTags();
  void editNote();

 Q_SIGNALS:
  // `text` says it for an undo menu.
  void edited(const swage::domain::AnnotationEdit& edit, const QString& text);

 private:
  void applyTags();
  void applyNote();
  void showButtons();
  [[nodiscard]] QString countText() const;

  QLabel* m_title;
  QToolButton* m_pin;
  QLineEdit* m_tags;
  QLineEdit* m_note;
  QToolButton* m_trash;
  std::vector<domain::CandidateId> m_ids;
  domain::Annotation m_first;
};

}  // namespace swage::ui
