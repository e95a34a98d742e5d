// Leaks that LeakSanitizer ignores: LLVM's OpenMP keeps data of threads that have ended, and HDF5
// forgets some where a file turns out to be damaged.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libomp.so\nleak:libhdf5_serial.so\n";
}
