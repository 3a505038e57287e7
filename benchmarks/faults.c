/* Put in front of the C library by LD_PRELOAD: lets one chosen call on files below a folder fail, or end the process.

   Calls that write, sync, rename or create are counted from fault_arm on. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { KILL = -1, TORN = -2 };

static char below[4096];
static long seen, chosen;
static int armed, fault, lasting;

void fault_arm(const char *folder, long number, int error, int goes_on) {
    strncpy(below, folder, sizeof below - 1);
    seen = 0, chosen = number, fault = error, lasting = goes_on, armed = 1;
}

long fault_seen(void) { return seen; }

static int is_below(const char *path) { return armed && strncmp(path, below, strlen(below)) == 0; }

static int concerns(int fd) {
    char link[64], path[4096];
    if (!armed) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return is_below(path);
}

/* Whether this call is to fail; a full disk stays full, other faults pass. */
static int hit(int writes) {
    seen++;
    if (!(seen == chosen || (lasting && writes && chosen > 0 && seen > chosen))) return 0;
    if (fault == KILL) raise(SIGKILL);
    if (fault == TORN) return writes;
    errno = fault;
    return 1;
}

#define REAL(type, name, ...) \
    static type (*real)(__VA_ARGS__); \
    if (!real) real = (type (*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name)

ssize_t write(int fd, const void *bytes, size_t count) {
    REAL(ssize_t, write, int, const void *, size_t);
    if (concerns(fd) && hit(1)) {
        if (fault != TORN) return -1;
        if (real(fd, bytes, count / 2) >= 0) raise(SIGKILL);
    }
    return real(fd, bytes, count);
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t place) {
    REAL(ssize_t, pwrite64, int, const void *, size_t, off64_t);
    return concerns(fd) && hit(1) && fault != TORN ? -1 : real(fd, bytes, count, place);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
    REAL(ssize_t, writev, int, const struct iovec *, int);
    return concerns(fd) && hit(1) && fault != TORN ? -1 : real(fd, parts, count);
}

int fsync(int fd) {
    REAL(int, fsync, int);
    return concerns(fd) && hit(0) ? -1 : real(fd);
}

int fdatasync(int fd) {
    REAL(int, fdatasync, int);
    return concerns(fd) && hit(0) ? -1 : real(fd);
}

int ftruncate64(int fd, off64_t length) {
    REAL(int, ftruncate64, int, off64_t);
    return concerns(fd) && hit(0) ? -1 : real(fd, length);
}

int rename(const char *from, const char *to) {
    REAL(int, rename, const char *, const char *);
    return is_below(to) && hit(0) ? -1 : real(from, to);
}

int renameat(int from_fd, const char *from, int to_fd, const char *to) {
    REAL(int, renameat, int, const char *, int, const char *);
    return is_below(to) && hit(0) ? -1 : real(from_fd, from, to_fd, to);
}

int open64(const char *path, int flags, ...) {
    REAL(int, open64, const char *, int, ...);
    va_list rest;
    va_start(rest, flags);
    mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return flags & O_CREAT && is_below(path) && hit(1) && fault != TORN ? -1 : real(path, flags, mode);
}
