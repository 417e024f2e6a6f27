// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QAbstractButton;

namespace swage::ui {

class EmptyState;

// Puts the way out below the sentence of an empty state, which takes the button over.
void addButton(EmptyState& state, QAbstractButton* button);

}  // namespace swage::ui
