// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace swage::cell {

// Of the thread that asks: overwrites what lies below this frame, as far down as anything was ever written, so that the
// next call finds neither zeros nor what an earlier one left there. Pages that nobody has touched stay so. Given back
// instead, they would cost the next call that needs them. The first time in a thread, reads /proc for the main one.
void scrubStack();

}  // namespace swage::cell
