// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "ui/models/text_diff.h"
#include "ui/widgets/theme.h"

class QCheckBox;
class QComboBox;
class QLabel;
class QSpinBox;
class QToolButton;

namespace swage::ui {

class DiffView;

// What can be done with a comparison of texts: how it is laid out, what is ignored, from change to change.
class DiffTools final : public QWidget {
  Q_OBJECT

 public:
  DiffTools(DiffView& view, CommentSyntax comments, QWidget* parent = nullptr);
  void setTheme(const Theme& theme);

 private:
  void makeButtons();
  void applyOptions();
  void updateState();

  DiffView& m_view;
  CommentSyntax m_syntax;
  QComboBox* m_layout;
  QCheckBox* m_whiteSpace;
  QCheckBox* m_comments;
  QCheckBox* m_addresses;
  QToolButton* m_previous;
  QToolButton* m_next;
  QLabel* m_count;
  QSpinBox* m_line;
};

}  // namespace swage::ui
