// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "ui/models/profile_text.h"

class QGridLayout;

namespace swage::ui {

// What a CPU did in a kernel: name, number and meaning, one below the other.
class ProcessorPanel final : public QWidget {
  Q_OBJECT

 public:
  explicit ProcessorPanel(QWidget* parent = nullptr);
  void setFacts(const QList<ProcessorFact>& facts);
  [[nodiscard]] bool isEmpty() const { return m_facts == 0; }

 private:
  QGridLayout* m_grid;
  int m_facts = 0;
};

}  // namespace swage::ui
