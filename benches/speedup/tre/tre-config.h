/* What TRE's configure script would find on Linux, without wide characters and multibyte encodings. */
#define HAVE_SYS_TYPES_H 1
#define TRE_APPROX 1
#define TRE_REGEX_T_FIELD value
#define TRE_VERSION "0.9.0"
#define TRE_VERSION_1 0
#define TRE_VERSION_2 9
#define TRE_VERSION_3 0
