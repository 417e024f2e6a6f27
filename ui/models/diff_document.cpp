// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/diff_document.h"

#include <algorithm>
#include <utility>

namespace swage::ui {

bool DiffDocument::setTexts(std::vector<DiffText> texts) {
  if (texts == m_texts) {
    return false;
  }
  std::vector<QString> edited;
  std::vector<int> placeOf(m_texts.size(), -1);  // now, of each text that was there
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto known = std::find(m_texts.begin(), m_texts.end(), texts[i]);
    const auto before = static_cast<std::size_t>(known - m_texts.begin());
    if (known != m_texts.end()) {
      placeOf[before] = static_cast<int>(i);
    }
    edited.push_back(known != m_texts.end() ? m_edited[before] : texts[i].text);
  }
  std::vector<Step> steps;
  for (const Step& step : m_steps) {
    if (const int place = placeOf[static_cast<std::size_t>(step.index)]; place >= 0) {
      steps.push_back({place, step.before});
    }
  }
  m_texts = std::move(texts);
  m_edited = std::move(edited);
  m_steps = std::move(steps);
  return true;
}

void DiffDocument::replace(int index, const QString& text) {
  QString& edited = m_edited[static_cast<std::size_t>(index)];
  m_steps.push_back({index, edited});
  edited = text;
}

std::optional<int> DiffDocument::undo() {
  if (m_steps.empty()) {
    return std::nullopt;
  }
  const Step last = std::move(m_steps.back());
  m_steps.pop_back();
  m_edited[static_cast<std::size_t>(last.index)] = last.before;
  return last.index;
}

bool DiffDocument::isEdited(int index) const {
  const auto at = static_cast<std::size_t>(index);
  return m_edited[at] != m_texts[at].text;
}

}  // namespace swage::ui
