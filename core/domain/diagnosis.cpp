// SPDX-License-Identifier: Apache-2.0
#include "core/domain/diagnosis.h"

namespace swage::domain {

std::string_view name(Bound bound) {
  switch (bound) {
    case Bound::Unknown: return "unknown";
    case Bound::Memory: return "memory";
    case Bound::Compute: return "compute";
    case Bound::Latency: return "latency";
    case Bound::Launches: return "launches";
  }
  return "unknown";
}

std::string_view name(FindingKind kind) {
  switch (kind) {
    case FindingKind::Stall: return "stall";
    case FindingKind::ExtraTraffic: return "extra traffic";
    case FindingKind::PartialSectors: return "partial sectors";
    case FindingKind::Occupancy: return "occupancy";
    case FindingKind::Divergence: return "divergence";
    case FindingKind::Spills: return "spills";
    case FindingKind::OutsideKernels: return "outside kernels";
    case FindingKind::NarrowVectors: return "narrow vectors";
    case FindingKind::IdleThreads: return "idle threads";
    case FindingKind::ThreadWaits: return "thread waits";
    case FindingKind::CacheMisses: return "cache misses";
    case FindingKind::BranchMisses: return "branch misses";
  }
  return "unknown";
}

}  // namespace swage::domain
