// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QLabel;

namespace swage::ui {

// A number with what it means below it. As wide as the widest text it is told to expect, so that nothing jumps.
class StatLabel final : public QWidget {
  Q_OBJECT

 public:
  StatLabel(const QString& caption, const QString& widest, QWidget* parent = nullptr);
  void setValue(const QString& value);
  [[nodiscard]] QString value() const;

 private:
  QLabel* m_value;
  QString m_caption;
};

}  // namespace swage::ui
