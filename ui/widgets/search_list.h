// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QLineEdit;
class QWidget;

namespace swage::ui {

// A search field above what it searches, in a widget of their own that takes both over.
[[nodiscard]] QWidget* makeSearchList(QLineEdit& field, QWidget& below);

}  // namespace swage::ui
