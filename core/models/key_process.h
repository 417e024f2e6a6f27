// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>

#include <functional>
#include <string>
#include <vector>

#include "core/base/result.h"

// Private to models: programs that have to do with keys.
namespace swage::models {

// Runs a program for at most 30 seconds, without a shell. `input` is what it reads; nothing: it has no input. `said` is
// called once, with what the program printed, unless `context` goes before; errors of kind Config begin with `what`,
// and never contain what was read or written. What it complains of is dropped, because it may quote a key.
void runForKey(const std::vector<std::string>& command, const std::string& input, const std::string& what,
               QObject* context, std::function<void(Result<std::string>)> said);

}  // namespace swage::models
