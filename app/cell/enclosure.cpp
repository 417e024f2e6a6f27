// SPDX-License-Identifier: Apache-2.0
#include "app/cell/enclosure.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "core/device/cell_protocol.h"

namespace swage::cell {
namespace {

#ifndef __x86_64__
#error "the numbers of system calls are those of x86-64"
#endif

constexpr std::uint32_t kX32Bit = 0x40000000;  // numbers of the other calling convention of the same processor

std::string because(const char* what) {
  return std::string(what) + ": " + std::strerror(errno);  // NOLINT(concurrency-mt-unsafe): one thread
}

// A seccomp program, which sees the number of a call and its arguments' bits. Written by hand, because the few rules
// need no library: a number, or a number with bits of an argument that have to be set or clear.
class CallFilter {
 public:
  CallFilter() {
    load(offsetof(seccomp_data, arch));
    onlyIf(BPF_JEQ, AUDIT_ARCH_X86_64);
    load(offsetof(seccomp_data, nr));
    unless(BPF_JGE, kX32Bit);
  }
  void allow(std::initializer_list<long> calls) {
    for (const long call : calls) {
      answer(call, SECCOMP_RET_ALLOW);
    }
  }
  // The call fails with `error` and nothing else happens.
  void refuse(std::initializer_list<long> calls, int error) {
    for (const long call : calls) {
      answer(call, SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error));
    }
  }
  // Allowed where all `bits` of the argument are set, or where none of them is; else the process ends.
  void allowIfSet(long call, unsigned argument, std::uint32_t bits) { allowBy(call, argument, bits, bits); }
  void allowIfEqual(long call, unsigned argument, std::uint64_t value) {
    const auto low = static_cast<std::uint32_t>(value);
    const auto high = static_cast<std::uint32_t>(value >> 32U);
    const std::size_t at = offsetof(seccomp_data, args) + argument * sizeof(std::uint64_t);
    m_program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 6));
    load(at);
    m_program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, low, 0, 3));
    load(at + sizeof low);
    m_program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, high, 0, 1));
    m_program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    m_program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
  }
  void allowIfClear(long call, unsigned argument, std::uint32_t bits) { allowBy(call, argument, bits, 0); }

  // All other calls end the process. Older systems let code under a filter run without speculation over stores, unless
  // it is asked not to; that would be another processor than PyTorch's.
  [[nodiscard]] std::string install() {
    m_program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
    const sock_fprog program{static_cast<unsigned short>(m_program.size()), m_program.data()};
    return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_SPEC_ALLOW,
                     &program) == 0
               ? std::string()
               : because("the filter of system calls");
  }

 private:
  void load(std::size_t offset) {
    m_program.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset)));
  }
  void onlyIf(unsigned short test, std::uint32_t value) {
    m_program.push_back(BPF_JUMP(static_cast<unsigned short>(BPF_JMP | test | BPF_K), value, 1, 0));
    m_program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
  }
  void unless(unsigned short test, std::uint32_t value) {
    m_program.push_back(BPF_JUMP(static_cast<unsigned short>(BPF_JMP | test | BPF_K), value, 0, 1));
    m_program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
  }
  void answer(long call, std::uint32_t action) {
    m_program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 1));
    m_program.push_back(BPF_STMT(BPF_RET | BPF_K, action));
  }
  void allowBy(long call, unsigned argument, std::uint32_t bits, std::uint32_t wanted) {
    m_program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 5));
    load(offsetof(seccomp_data, args) + argument * sizeof(std::uint64_t));  // its low half: little-endian
    m_program.push_back(BPF_STMT(BPF_ALU | BPF_AND | BPF_K, bits));
    m_program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, wanted, 0, 1));
    m_program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    m_program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
  }

  std::vector<sock_filter> m_program;
};

// Threads, their stacks, what they wait on, and the end. clone3 hides its flags in memory: without it the library takes
// clone, whose flags the filter sees.
void allowThreads(CallFilter& filter) {
  filter.allow({SYS_futex, SYS_munmap, SYS_mremap, SYS_madvise, SYS_brk, SYS_sched_yield, SYS_sched_getaffinity,
                SYS_set_robust_list, SYS_rseq, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_gettid, SYS_getpid, SYS_exit,
                SYS_exit_group, SYS_mincore});
  filter.allowIfSet(SYS_clone, 0, CLONE_VM | CLONE_THREAD | CLONE_SIGHAND);
  filter.refuse({SYS_clone3}, ENOSYS);
}

std::string limit(__rlimit_resource_t resource, std::uint64_t value) {
  const rlimit both{value, value};
  return ::setrlimit(resource, &both) == 0 ? std::string() : because("a limit of resources");
}

}  // namespace

std::string closeFiles(std::uint32_t& gaps) {
  landlock_ruleset_attr handled{};
  handled.handled_access_fs = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1U) - 1;  // all that the first version knows
  const auto ruleset = static_cast<int>(::syscall(SYS_landlock_create_ruleset, &handled, sizeof handled, 0));
  if (ruleset < 0) {
    gaps |= device::kCellNoLandlock;
    return errno == ENOSYS || errno == EOPNOTSUPP || errno == EPERM ? std::string() : because("Landlock");
  }
  const bool isDone = ::syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
  std::string trouble = isDone ? std::string() : because("Landlock");
  ::close(ruleset);
  return trouble;
}

std::string limitResources(std::uint64_t memoryBytes) {
  std::string trouble = limit(RLIMIT_CORE, 0);
  if (trouble.empty()) {
    trouble = limit(RLIMIT_FSIZE, 0);
  }
  return trouble.empty() ? limit(RLIMIT_AS, memoryBytes) : trouble;
}

std::string allowLoadingOnly(std::uint32_t& gaps) {
  if (::prctl(PR_GET_SECCOMP, 0, 0, 0, 0) < 0 && errno == EINVAL) {
    gaps |= device::kCellNoSeccomp;
    return {};
  }
  CallFilter filter;
  allowThreads(filter);
  filter.allow({SYS_openat, SYS_read, SYS_pread64, SYS_close, SYS_fstat, SYS_newfstatat, SYS_lseek, SYS_mmap,
                SYS_mprotect, SYS_seccomp, SYS_prctl, SYS_close_range, SYS_sched_setaffinity});
  filter.refuse({SYS_readlink, SYS_getcwd, SYS_access}, EACCES);
  return filter.install();
}

std::string allowComputingOnly() {
  CallFilter filter;
  allowThreads(filter);
  filter.allowIfClear(SYS_mmap, 2, PROT_EXEC);
  filter.allowIfClear(SYS_mprotect, 2, PROT_EXEC);
  filter.allowIfEqual(SYS_sched_setaffinity, 0, 0);  // of the thread that asks
  filter.refuse({SYS_openat}, EACCES);               // of the allocator, which asks how many processors there are
  return filter.install();
}

}  // namespace swage::cell
