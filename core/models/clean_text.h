// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace swage::models {

// A text of somebody else as UTF-8 that can be shown, stored and compiled: what is no UTF-8 becomes U+FFFD; control
// characters but tab and line feed, escape sequences of terminals, and characters that change the direction of text or
// have no width go; CR LF becomes LF. At most so many bytes, cut between characters.
[[nodiscard]] std::string cleanText(std::string_view text, std::size_t maxBytes);
// The same in one line.
[[nodiscard]] std::string cleanLine(std::string_view text, std::size_t maxBytes);

// What must not leave this machine or enter the record: each of `secrets`, what looks like a key (`sk-…`, `hf_…`,
// `ghp_…`, `Bearer …`), and the home folder, which becomes `~`.
[[nodiscard]] std::string withoutSecrets(std::string_view text, std::span<const std::string> secrets = {});

}  // namespace swage::models
