// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace swage::ui {

// Lets screen readers see a LineageView as a list of candidates. May be called more than once.
void installLineageAccessibility();

}  // namespace swage::ui
