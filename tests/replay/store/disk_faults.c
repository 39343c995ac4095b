/* Preloaded into a writer by tests: what happens when it waits for the disk.

   Every fsync and fdatasync adds the name of its file as a line to $DISK_LOG. The file $DISK_ORDER
   says what it does then: "fail" answers EIO, "kill" sends SIGKILL when the file is a write-ahead
   log, anything else waits for the disk as usual. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int wait_for_disk(int file, const char *name) {
    char link[64], path[4096] = "", order[16] = "";
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    if (readlink(link, path, sizeof path - 2) < 0) path[0] = 0;
    int reading = open(getenv("DISK_ORDER"), O_RDONLY);
    if (reading >= 0) {
        if (read(reading, order, sizeof order - 1) < 0) order[0] = 0;
        close(reading);
    }
    int log = open(getenv("DISK_LOG"), O_WRONLY | O_APPEND | O_CREAT, 0644);
    if (log >= 0) {
        char *base = strrchr(path, '/');
        dprintf(log, "%s\n", base ? base + 1 : path);
        close(log);
    }
    if (!strncmp(order, "kill", 4) && strstr(path, "-wal")) raise(SIGKILL);
    if (!strncmp(order, "fail", 4)) {
        errno = EIO;
        return -1;
    }
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
    return real(file);
}

int fsync(int file) { return wait_for_disk(file, "fsync"); }
int fdatasync(int file) { return wait_for_disk(file, "fdatasync"); }
