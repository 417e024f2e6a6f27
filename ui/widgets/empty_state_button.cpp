// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/empty_state_button.h"

#include <QAbstractButton>
#include <QLabel>
#include <QVBoxLayout>

#include "ui/widgets/empty_state.h"

namespace swage::ui {

// The sentence stands in the middle of its label, so that the button comes into the lower half.
void addButton(EmptyState& state, QAbstractButton* button) {
  auto* sentence = state.findChild<QLabel*>(QStringLiteral("emptySentence"), Qt::FindDirectChildrenOnly);
  auto* column = new QVBoxLayout(sentence);
  const int half = sentence->fontMetrics().height() * 5;
  column->addStretch(1);
  column->addSpacing(half);
  column->addWidget(button, 0, Qt::AlignHCenter);
  column->addSpacing(half - button->sizeHint().height());
  column->addStretch(1);
}

}  // namespace swage::ui
