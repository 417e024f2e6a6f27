// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QLabel;

namespace swage::ui {

// A titled part of a page, with a line of explanation where there is something to explain. Owns its content.
class Section final : public QWidget {
  Q_OBJECT

 public:
  Section(const QString& title, QWidget* content, QWidget* parent = nullptr);
  void setCaption(const QString& caption);
  [[nodiscard]] QString caption() const;

 private:
  QLabel* m_caption;
};

}  // namespace swage::ui
