// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>

#include "core/wire/messages.h"
#include "tests/fake_worker/misbehaviour.h"

namespace swage::fake {

// What is correct when it is asked about first, and wrong from then on. Of the behaviours Waver and FailLastChecks; any
// other changes nothing.
class LaterVerdicts {
 public:
  void change(Behaviour behaviour, const wire::Evaluate& asked, domain::Evaluation& evaluation);

 private:
  std::set<double> m_known;  // nanoseconds of what has been asked about
};

}  // namespace swage::fake
