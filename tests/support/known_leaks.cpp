// What LeakSanitizer leaves out: LLVM's OpenMP keeps what it knows of threads that have ended.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libomp.so\n"; }
