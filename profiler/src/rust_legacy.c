#include "demangle_languages.h"
bool prof_rust_legacy(struct prof_out *out, const char *name, size_t bytes){(void)out;(void)name;(void)bytes;return false;}
bool prof_rust_v0(struct prof_out *out, const char *name, size_t bytes, void *work, size_t work_bytes){(void)out;(void)name;(void)bytes;(void)work;(void)work_bytes;return false;}
bool prof_ocaml(struct prof_out *out, const char *name, size_t bytes){(void)out;(void)name;(void)bytes;return false;}
