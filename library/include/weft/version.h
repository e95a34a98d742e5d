/* The version of weft that a program is compiled against; weft::version() and weft_version() tell
   the one that it runs with. Semantic versions: until 1.0 a minor version may change the interface,
   a patch never does. */
#ifndef WEFT_VERSION_H
#define WEFT_VERSION_H

#define WEFT_VERSION_MAJOR 0
#define WEFT_VERSION_MINOR 2
#define WEFT_VERSION_PATCH 0
#define WEFT_VERSION "0.2.0"

/* True if the version is at least major.minor.patch. */
#define WEFT_VERSION_AT_LEAST(major, minor, patch)                                  \
  (WEFT_VERSION_MAJOR * 1000000 + WEFT_VERSION_MINOR * 1000 + WEFT_VERSION_PATCH >= \
   (major) * 1000000 + (minor) * 1000 + (patch))

#endif /* WEFT_VERSION_H */
