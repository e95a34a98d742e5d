// Leaks that LeakSanitizer ignores: LLVM's OpenMP keeps data of threads that have ended, HDF5
// forgets some where a file turns out to be damaged, and UCX some where it looks for devices.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libomp.so\nleak:libhdf5_serial.so\nleak:libucs.so\nleak:libuct.so\n";
}
