// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

#include <functional>
#include <utility>

namespace swage::ui {

// Calls `slot`, a member function of Owner or anything else that takes an Owner*, when `field`, a QLineEdit,
// QAbstractSpinBox or QKeySequenceEdit inside of `owner`, has been edited. Not when `owner` is being destroyed: a field
// that has the focus then says so once more, to what is no Owner any longer.
template <class Field, class Owner, class Slot>
void whenEditingFinished(Field* field, Owner* owner, Slot slot) {
  QObject* const object = owner;
  QObject::connect(field, &Field::editingFinished, object, [object, slot = std::move(slot)] {
    if (auto* alive = qobject_cast<Owner*>(object)) {
      std::invoke(slot, alive);
    }
  });
}

}  // namespace swage::ui
