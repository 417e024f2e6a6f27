// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

namespace swage::ui {

// Calls `slot` when `field`, a QLineEdit, QAbstractSpinBox or QKeySequenceEdit inside of `owner`, has been edited. Not
// when `owner` is being destroyed: a field that has the focus then says so once more, to what is no Owner any longer.
template <class Field, class Owner>
void whenEditingFinished(Field* field, Owner* owner, void (Owner::*slot)()) {
  QObject* const object = owner;
  QObject::connect(field, &Field::editingFinished, object, [object, slot] {
    if (auto* alive = qobject_cast<Owner*>(object)) {
      (alive->*slot)();
    }
  });
}

}  // namespace swage::ui
