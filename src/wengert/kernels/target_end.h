/* The end of a file that begins with target_v3.h or target_v4.h. Clang requires a pop for each push, gcc's pragma holds to the end. */
#if defined(__x86_64__) && defined(__clang__)
#pragma clang attribute pop
#endif
