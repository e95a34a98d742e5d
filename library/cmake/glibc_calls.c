/* The functions that glibc got after 2.28 and that the libraries in a wheel call. A glibc that has them
 * comes first, since Python is linked with it; only an older one leaves them to these. For x86-64, where
 * the kernel writes the `struct stat` of programs itself. */
#include <stdint.h>
#include <sys/syscall.h>

long syscall(long number, ...);
struct stat;

/* std::shared_ptr counts without atomic operations where this is true. */
char __libc_single_threaded = 0;

int stat(const char* path, struct stat* found) { return (int)syscall(SYS_stat, path, found); }
int lstat(const char* path, struct stat* found) { return (int)syscall(SYS_lstat, path, found); }
int fstat(int file, struct stat* found) { return (int)syscall(SYS_fstat, file, found); }
int fstatat(int folder, const char* path, struct stat* found, int flags) {
  return (int)syscall(SYS_newfstatat, folder, path, found, flags);
}
int stat64(const char*, struct stat*) __attribute__((alias("stat")));
int lstat64(const char*, struct stat*) __attribute__((alias("lstat")));
int fstat64(int, struct stat*) __attribute__((alias("fstat")));
int fstatat64(int, const char*, struct stat*, int) __attribute__((alias("fstatat")));

int gettid(void) { return (int)syscall(SYS_gettid); }

/* std::random_device. */
uint32_t arc4random(void) {
  uint32_t number = 0;
  while (syscall(SYS_getrandom, &number, sizeof number, 0) != sizeof number) continue;
  return number;
}
