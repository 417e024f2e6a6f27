// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>

#include <functional>

#include "core/base/result.h"
#include "core/models/endpoint.h"
#include "core/models/key_ring.h"

// Puts keys where settings say that they are, and removes them: in files that only their owner can read, and in the
// keychain of the desktop. On the thread that asks. No message contains a key.
namespace swage::models {

// Whether a key can be put there. InvalidInput: a variable or a command has its key from elsewhere, or it is no place
// at all. NotFound: the tool of the keychain is missing.
[[nodiscard]] Result<> checkCanKeep(const KeySource& place);

// `done` is called once, at once or later, unless `context` goes before. Kinds: those above, Io for a file, Config for
// a keychain that does not answer within 30 seconds or refuses.
using KeyDone = std::function<void(Result<>)>;
// In place of the key that is there. Folders above a file are made.
void keepKey(const KeySource& place, const Secret& key, QObject* context, KeyDone done);
// NotFound: the file is not there. A keychain that has no such key is no error.
void removeKey(const KeySource& place, QObject* context, KeyDone done);

}  // namespace swage::models
