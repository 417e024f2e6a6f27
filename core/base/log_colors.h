// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace swage::log {

// Colours in what is logged; without this call, where standard error is a terminal that has them.
void setColors(bool used);

}  // namespace swage::log
