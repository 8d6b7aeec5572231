#define BUILD "bench"
#define PACKAGE_NAME "mozjpeg"
#define VERSION "4"
#define INLINE inline __attribute__((always_inline))
#define HIDDEN __attribute__((visibility("hidden")))
#define THREAD_LOCAL __thread
#define SIZEOF_SIZE_T 8
#define HAVE_BUILTIN_CTZL 1
#define FALLTHROUGH __attribute__((fallthrough));
