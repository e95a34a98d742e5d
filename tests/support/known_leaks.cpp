// Leaks that LeakSanitizer ignores: LLVM's OpenMP keeps data of threads that have ended.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libomp.so\n"; }
