// lab_host: the namespaces of tools/lab.
//
//   lab_host hold FOLDER HOST_COUNT [COMMAND...]   makes a switch and its hosts
//   lab_host enter NAMESPACES CORES COMMAND...     runs a command in one of them
//   lab_host launch NAMESPACES CORES COMMAND...    the same for a command in the switch: mpiexec
//
// Processes are all that a lab consists of, apart from the files in FOLDER:
//
//   switch: process 1 of the lab's PID namespace; has the network, host name, mounts and /dev/shm
//    ├─ n0: process 2, namespaces of its own of each kind, process 1 of a PID namespace
//    ├─ n1: process 3, …
//    └─ COMMAND (the delay line)
//
// When one of them ends, the switch ends, and the kernel ends everything in its PID namespace,
// interfaces included. FOLDER/proc shows the lab's processes, in the switch and in the hosts, so
// that FOLDER/proc/2/ns are the NAMESPACES of n0; from outside they are at /proc/PID/root/FOLDER/….
//
// What `enter` runs dies with it, whatever ends it, again because of a PID namespace:
//
//   enter ── relay, in the host's PID namespace ── process 1 of a new one ── COMMAND
//
// Below mpiexec there is already such a namespace, which `launch` stays in: a killed run takes its
// ranks along on all hosts.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr int exit_code_failure = 2;
constexpr int exit_code_not_found = 127;
constexpr int signal_exit_code = 128;
constexpr int host_namespaces =
    CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWNS;

/// Time for a command to end after it was asked to.
constexpr std::chrono::seconds grace{3};

int check(int result, const std::string& what) {
  if (result < 0) throw std::system_error(errno, std::generic_category(), what);
  return result;
}

/// Two ends of a pipe; commands do not inherit them.
struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    check(pipe2(ends.data(), O_CLOEXEC), "pipe");
    reader = ends[0];
    writer = ends[1];
  }
  int reader = -1;
  int writer = -1;
};

/// Returns whether a byte came before the last writer was closed.
bool wait_for_byte(int reader) {
  char byte = 0;
  return read(reader, &byte, 1) == 1;
}

void send_byte(int writer) { check(static_cast<int>(write(writer, "1", 1)), "pipe"); }

/// Like fork, with the child in new namespaces. Returns the child's number in this PID namespace.
pid_t fork_into_new(int namespaces) {
  const long child = syscall(SYS_clone, static_cast<unsigned long>(namespaces | SIGCHLD), nullptr,
                             nullptr, nullptr, nullptr);
  return check(static_cast<pid_t>(child), "new namespaces");
}

/// As fork; the child is killed when this process ends for any reason.
pid_t fork_bound(int new_namespaces) {
  const Pipe alive;
  const pid_t child = fork_into_new(new_namespaces);
  if (child > 0) {
    close(alive.reader);
    return child;  // `alive.writer` stays open as long as this process is
  }
  close(alive.writer);
  check(prctl(PR_SET_PDEATHSIG, SIGKILL), "parent death signal");
  pollfd parent{alive.reader, POLLIN, 0};
  if (poll(&parent, 1, 0) != 0) _exit(exit_code_failure);
  close(alive.reader);
  return 0;
}

[[noreturn]] void execute(const std::vector<std::string>& command) {
  std::vector<const char*> words;
  for (const std::string& word : command) words.push_back(word.c_str());
  words.push_back(nullptr);
  execvp(words[0], const_cast<char* const*>(words.data()));
  std::fprintf(stderr, "lab: %s: %s\n", words[0], std::generic_category().message(errno).c_str());
  _exit(exit_code_not_found);
}

void mount_new(const char* type, const char* folder, unsigned long flags = 0) {
  check(mount(type, folder, type, flags, nullptr), std::string("mount ") + folder);
}

/// Gives this process the system view of its new namespaces.
void set_up_host(const std::string& name) {
  check(sethostname(name.c_str(), name.size()), "host name");
  check(prctl(PR_SET_NAME, name.c_str()), "process name");
  mount_new("proc", "/proc");
  mount_new("sysfs", "/sys");
  mount_new("tmpfs", "/dev/shm", MS_NOSUID | MS_NODEV);
}

void redirect(int descriptor, const std::string& path) {
  const int file = check(open(path.c_str(), O_RDWR), path);
  check(dup2(file, descriptor), path);
  close(file);
}

/// Detaches from the output: no reader has to wait for the end of the lab.
void detach() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    redirect(descriptor, "/dev/null");
}

/// A host does nothing but exist and collect the orphans that commands leave to it.
[[noreturn]] void be_host(const std::string& name, int ready) {
  set_up_host(name);
  signal(SIGCHLD, SIG_IGN);
  detach();
  send_byte(ready);
  close(ready);
  while (true) pause();
}

/// Starts a host; returns when it is ready.
pid_t start_host(const std::string& name) {
  const Pipe ready;
  const pid_t host = fork_into_new(host_namespaces);
  if (host == 0) be_host(name, ready.writer);
  close(ready.writer);
  const bool is_ready = wait_for_byte(ready.reader);
  close(ready.reader);
  if (!is_ready) throw std::runtime_error("host " + name + " did not start");
  return host;
}

/// Starts what delays the packets; returns when it says that it is ready.
pid_t start_companion(const std::vector<std::string>& command) {
  const Pipe output;
  const pid_t companion = fork_into_new(0);
  if (companion == 0) {
    check(dup2(output.writer, STDOUT_FILENO), "pipe");
    execute(command);
  }
  close(output.writer);
  const bool is_ready = wait_for_byte(output.reader);
  close(output.reader);
  if (!is_ready) throw std::runtime_error("the delay line did not start");
  return companion;
}

/// Returns when the first of the processes that make up the lab has ended.
void wait_for_any_of(const std::vector<pid_t>& parts) {
  while (true) {
    const pid_t ended = check(wait(nullptr), "wait");
    for (const pid_t part : parts)
      if (ended == part) return;
  }
}

/// The switch: returns when a part of the lab has ended.
void be_switch(const std::string& folder, int host_count, const std::vector<std::string>& command,
               const Pipe& ready) {
  setsid();
  check(chdir("/"), "/");
  check(mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr), "mounts");
  check(mount((folder + "/hosts").c_str(), "/etc/hosts", nullptr, MS_BIND, nullptr), "/etc/hosts");
  set_up_host("switch");
  mount_new("proc", (folder + "/proc").c_str());
  std::vector<pid_t> parts;
  for (int host = 0; host < host_count; ++host)
    parts.push_back(start_host("n" + std::to_string(host)));
  if (!command.empty()) parts.push_back(start_companion(command));
  detach();
  send_byte(ready.writer);
  close(ready.writer);
  wait_for_any_of(parts);
}

/// Start time of a process in ticks after the boot: unique together with its number.
std::string start_time_of(pid_t process) {
  constexpr int fields_before = 19;  // after the name in parentheses
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  const std::string stat{std::istreambuf_iterator<char>(file), {}};
  std::istringstream words(stat.substr(stat.rfind(')') + 1));
  std::string word;
  for (int field = 0; field <= fields_before; ++field) words >> word;
  return word;
}

/// Makes a lab and leaves it running. Its process is on file before it does anything.
int hold(const std::string& folder, int host_count, const std::vector<std::string>& command) {
  // A caller of the lab may wait for the end of a pipe that the lab would keep open.
  close_range(STDERR_FILENO + 1, ~0U, 0);
  const Pipe registered;
  const Pipe ready;
  const pid_t lab = fork_into_new(host_namespaces);
  if (lab == 0) {
    close(registered.writer);
    close(ready.reader);
    if (!wait_for_byte(registered.reader)) return exit_code_failure;
    close(registered.reader);
    be_switch(folder, host_count, command, ready);
    return exit_code_failure;
  }
  close(ready.writer);
  std::ofstream(folder + "/process") << lab << ' ' << start_time_of(lab) << std::endl;
  send_byte(registered.writer);
  return wait_for_byte(ready.reader) ? 0 : exit_code_failure;
}

sigset_t watched_signals() {
  sigset_t watched;
  sigemptyset(&watched);
  for (const int signal : {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2})
    sigaddset(&watched, signal);
  return watched;
}

/// Collects every child that has ended; returns the exit code of `child` when it was among them.
std::optional<int> collect(pid_t child) {
  std::optional<int> exit_code;
  int status = 0;
  for (pid_t ended = 0; (ended = waitpid(-1, &status, WNOHANG)) > 0;)
    if (ended == child)
      exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : signal_exit_code + WTERMSIG(status);
  return exit_code;
}

/// Waits for `child` and returns its exit code. Passes signals on to it, except those of a
/// terminal, which come to all processes anyway. A child that was asked to end and does not is
/// given up: it is bound to this process.
int supervise(pid_t child) {
  const sigset_t watched = watched_signals();
  std::optional<Clock::time_point> end;
  int last_signal = 0;
  while (true) {
    const timespec second{1, 0};
    siginfo_t arrived{};
    const int signal = sigtimedwait(&watched, &arrived, end ? &second : nullptr);
    if (const auto exit_code = collect(child)) return *exit_code;
    if (end && Clock::now() > *end) return signal_exit_code + last_signal;
    if (signal < 0 || signal == SIGCHLD) continue;
    if (arrived.si_code != SI_KERNEL) kill(child, signal);
    if (signal == SIGTERM || signal == SIGHUP) {
      last_signal = signal;
      end = end.value_or(Clock::now() + grace);
    }
  }
}

/// Joins namespaces of a host; the PID namespace will be that of later children.
void join(const std::string& namespaces, const std::vector<std::string>& kinds) {
  std::vector<int> files;
  for (const std::string& kind : kinds) {
    const std::string path = namespaces + "/" + kind;
    files.push_back(check(open(path.c_str(), O_RDONLY | O_CLOEXEC), path));
  }
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    check(setns(files[kind], 0), "namespace " + kinds[kind]);
    close(files[kind]);
  }
}

/// Binds this process and its children to `cores`: 0,2,5.
void bind_to(const std::string& cores) {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::istringstream list(cores);
  for (std::string core; std::getline(list, core, ',');) CPU_SET(std::stoul(core), &set);
  check(sched_setaffinity(0, sizeof set, &set), "cores " + cores);
}

/// Process 1 of the command's PID namespace.
int run_in_new_namespace(const std::vector<std::string>& command, const sigset_t& signals) {
  check(mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr), "mounts");
  mount_new("proc", "/proc");
  const pid_t child = fork_bound(0);
  if (child > 0) return supervise(child);
  sigprocmask(SIG_SETMASK, &signals, nullptr);
  execute(command);
}

int enter(const std::string& namespaces, const std::vector<std::string>& kinds,
          const std::string& cores, const std::vector<std::string>& command) {
  const std::string folder = std::filesystem::current_path();
  join(namespaces, kinds);
  check(chdir(folder.c_str()), folder);
  bind_to(cores);
  const sigset_t watched = watched_signals();
  sigset_t before;
  sigprocmask(SIG_BLOCK, &watched, &before);
  if (const pid_t relay = fork_bound(0)) return supervise(relay);
  if (const pid_t first = fork_bound(CLONE_NEWPID | CLONE_NEWNS)) return supervise(first);
  return run_in_new_namespace(command, before);
}

int run(const std::vector<std::string>& words) {
  constexpr std::size_t fixed_words = 3;
  const std::string mode = words.empty() ? "" : words[0];
  const std::size_t first = std::min(fixed_words, words.size());
  const std::vector<std::string> command(words.begin() + static_cast<std::ptrdiff_t>(first),
                                         words.end());
  if (mode == "hold" && words.size() >= fixed_words)
    return hold(words[1], std::stoi(words[2]), command);
  if (mode == "enter" && !command.empty())
    return enter(words[1], {"pid", "ipc", "uts", "net", "mnt"}, words[2], command);
  if (mode == "launch" && !command.empty())
    return enter(words[1], {"ipc", "uts", "net", "mnt"}, words[2], command);
  std::fputs("lab_host: a part of tools/lab; see tools/lab --help\n", stderr);
  return exit_code_failure;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    return run({arguments + 1, arguments + count});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "lab: %s\n", error.what());
    return exit_code_failure;
  }
}
