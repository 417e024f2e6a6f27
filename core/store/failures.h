// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/error.h"

// What kept the record from being written, as far as its errors tell (ErrorKind has one kind for the whole store).
namespace swage::store {

// The disk, or the user's share of it, is full.
[[nodiscard]] bool isDiskFull(const Error& error);
// Another program keeps the database from being written, or read. Not the lock of a project, which says who has it.
[[nodiscard]] bool isHeld(const Error& error);

}  // namespace swage::store
