// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/empty_state_button.h"

#include <QAbstractButton>
#include <QLabel>
#include <QVBoxLayout>

#include <algorithm>

#include "ui/widgets/empty_state.h"

namespace swage::ui {

// The sentence stands in the middle of its label, so that the button comes into the lower half.
void addButton(EmptyState& state, QAbstractButton* button) {
  auto* sentence = state.findChild<QLabel*>(QStringLiteral("emptySentence"), Qt::FindDirectChildrenOnly);
  auto* column = new QVBoxLayout(sentence);
  // The sentence stands in the middle, on two lines at most where there is room; the button begins below them.
  const int line = sentence->fontMetrics().height();
  const int half = line * 5;
  const int below = line * 3 / 2;
  column->setSpacing(0);
  column->addStretch(1);
  column->addSpacing(half + below);
  column->addWidget(button, 0, Qt::AlignHCenter);
  column->addSpacing(std::max(0, half - below - button->sizeHint().height()));
  column->addStretch(1);
}

}  // namespace swage::ui
