// SPDX-License-Identifier: Apache-2.0
#include "core/toolchain/enclosure.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>

#include "core/base/fd.h"
#include "core/base/system_message.h"

namespace swage::toolchain {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
#error "the filter of system calls knows x86-64 and AArch64"
#endif

constexpr std::uint64_t kReadFile = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE;
constexpr std::uint64_t kRead = kReadFile | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr std::uint64_t kAllOfFirstVersion = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1U) - 1;
constexpr std::uint64_t kRefer = std::uint64_t{1} << 13U;     // of the second version, which older headers lack
constexpr std::uint64_t kTruncate = std::uint64_t{1} << 14U;  // of the third
constexpr rlim_t kMaxProcesses = 4096;  // of this user; who looks at the tree ends it long before (LimitWatch)

constexpr std::uint32_t kNewNamespaces =
    CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWCGROUP;

std::string because(const char* what) {
  return std::string(what) + ": " + systemMessage(errno);
}

// What the running kernel can forbid; an older one would refuse bits that it does not know.
std::uint64_t handledRights(long version) {
  return kAllOfFirstVersion | (version >= 2 ? kRefer : 0) | (version >= 3 ? kTruncate : 0);
}

std::string addRule(int ruleset, const std::string& path, std::uint64_t rights) {
  const Fd file(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!file.isOpen()) {
    return errno == ENOENT ? std::string() : because(path.c_str());
  }
  struct stat facts {};
  if (::fstat(file.get(), &facts) == 0 && !S_ISDIR(facts.st_mode)) {
    rights &= kReadFile | LANDLOCK_ACCESS_FS_WRITE_FILE | kTruncate;
  }
  landlock_path_beneath_attr rule{};
  rule.allowed_access = rights;
  rule.parent_fd = file.get();
  return ::syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0 ? std::string()
                                                                                              : because(path.c_str());
}

std::string closeFiles(const Enclosure& enclosure) {
  const long version = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (version < 1) {
    return because("Landlock");
  }
  landlock_ruleset_attr handled{};
  handled.handled_access_fs = handledRights(version);
  const Fd ruleset(static_cast<int>(::syscall(SYS_landlock_create_ruleset, &handled, sizeof handled, 0)));
  if (!ruleset.isOpen()) {
    return because("Landlock");
  }
  std::string trouble;
  for (const char* path : {"/usr", "/lib", "/lib64", "/bin"}) {
    trouble = trouble.empty() ? addRule(ruleset.get(), path, kRead) : trouble;
  }
  for (const std::string& path : enclosure.readable) {
    trouble = trouble.empty() ? addRule(ruleset.get(), path, kRead) : trouble;
  }
  for (const std::string& path : enclosure.writable) {
    trouble = trouble.empty() ? addRule(ruleset.get(), path, handled.handled_access_fs) : trouble;
  }
  trouble = trouble.empty() ? addRule(ruleset.get(), "/dev/null", kReadFile | LANDLOCK_ACCESS_FS_WRITE_FILE) : trouble;
  if (trouble.empty() && ::syscall(SYS_landlock_restrict_self, ruleset.get(), 0) != 0) {
    return because("Landlock");
  }
  return trouble;
}

// Compilers start processes and write files; they reach no network, no other process, no key and no device.
std::string closeSystem() {
  std::vector<sock_filter> program {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
#if defined(__x86_64__)
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1),  // the other calling convention of the processor
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
#endif
  };
  for (const long call : {SYS_socket,
                          SYS_socketpair,
                          SYS_connect,
                          SYS_ptrace,
                          SYS_process_vm_readv,
                          SYS_process_vm_writev,
                          SYS_kill,
                          SYS_tkill,
                          SYS_pidfd_open,
                          SYS_pidfd_getfd,
                          SYS_pidfd_send_signal,
                          SYS_unshare,
                          SYS_setns,
                          SYS_mount,
                          SYS_umount2,
                          SYS_pivot_root,
                          SYS_chroot,
                          SYS_bpf,
                          SYS_perf_event_open,
                          SYS_userfaultfd,
                          SYS_keyctl,
                          SYS_add_key,
                          SYS_request_key,
                          SYS_io_uring_setup,
                          SYS_init_module,
                          SYS_finit_module,
                          SYS_kexec_load,
                          SYS_reboot,
                          SYS_swapon,
                          SYS_swapoff,
                          SYS_shmget,
                          SYS_msgget,
                          SYS_semget,
                          SYS_mq_open,
                          SYS_sched_setaffinity,
                          SYS_setpriority,
                          SYS_quotactl,
                          SYS_acct,
                          SYS_syslog,
                          SYS_settimeofday,
                          SYS_clock_settime}) {
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 1));
    program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
  }
  // clone3 hides its flags in memory: without it the library takes clone, whose flags the filter sees.
  program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1));
  program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS));
  program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3));
  program.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args)));
  program.push_back(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, kNewNamespaces, 0, 1));
  program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
  program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) == 0 ? std::string() : because("seccomp");
}

}  // namespace

std::string becomeEnclosed(const Enclosure& enclosure) {
  if (enclosure.command.empty()) {
    return "no program to run";
  }
  const rlimit processes{kMaxProcesses, kMaxProcesses};
  static_cast<void>(::setrlimit(RLIMIT_NPROC, &processes));  // a second line of defence
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    return because("no new privileges");
  }
  std::string trouble = closeFiles(enclosure);
  trouble = trouble.empty() ? closeSystem() : trouble;
  if (!trouble.empty()) {
    return trouble;
  }
  std::vector<std::string> command = enclosure.command;
  std::vector<char*> arguments;
  for (std::string& argument : command) {
    arguments.push_back(argument.data());
  }
  arguments.push_back(nullptr);
  for (const int ignored : {SIGPIPE, SIGINT}) {  // as LimitedChild starts programs
    ::signal(ignored, SIG_DFL);
  }
  ::execvp(arguments.front(), arguments.data());
  return because(enclosure.command.front().c_str());
}

Enclosure parseEnclosure(const std::vector<std::string>& arguments) {
  Enclosure enclosure;
  std::size_t i = 0;
  for (; i + 1 < arguments.size() && arguments[i] != "--"; i += 2) {
    (arguments[i] == "--write" ? enclosure.writable : enclosure.readable).push_back(arguments[i + 1]);
  }
  if (i < arguments.size() && arguments[i] == "--") {
    enclosure.command.assign(arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1, arguments.end());
  }
  return enclosure;
}

}  // namespace swage::toolchain
