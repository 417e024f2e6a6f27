// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <optional>
#include <vector>

namespace swage::ui {

struct DiffText {
  QString title;
  QString text;
  QString whenEmpty = {};  // what is said in place of an empty text
  friend bool operator==(const DiffText&, const DiffText&) = default;
};

// The texts of a comparison and what was edited of them, which can be taken back step by step.
class DiffDocument {
 public:
  // A text that is there already stays as it was edited, in whatever place it is now. False: nothing is new.
  bool setTexts(std::vector<DiffText> texts);
  void replace(int index, const QString& text);
  // Which text is as it was before the last edit; no value: there was none.
  std::optional<int> undo();

  [[nodiscard]] int count() const { return static_cast<int>(m_texts.size()); }
  [[nodiscard]] const QString& title(int index) const { return m_texts[static_cast<std::size_t>(index)].title; }
  [[nodiscard]] const QString& whenEmpty(int index) const { return m_texts[static_cast<std::size_t>(index)].whenEmpty; }
  [[nodiscard]] const QString& text(int index) const { return m_edited[static_cast<std::size_t>(index)]; }
  [[nodiscard]] const std::vector<QString>& texts() const { return m_edited; }
  [[nodiscard]] bool isEdited(int index) const;

 private:
  struct Step {
    int index = 0;
    QString before;
  };

  std::vector<DiffText> m_texts;
  std::vector<QString> m_edited;
  std::vector<Step> m_steps;
};

}  // namespace swage::ui
