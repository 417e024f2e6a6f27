// SPDX-License-Identifier: Apache-2.0
#pragma once

// Two includes that core/base may not have, for the test of the include check.
#include "core/store/record.h"

#include <QString>
