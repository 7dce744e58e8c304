/* The limits of control groups are read from files: cpu.max and memory.max in version 2, cpu.cfs_quota_us, cpu.cfs_period_us and
 * memory.limit_in_bytes in version 1. A process belongs to one group of each hierarchy, and the limits of the groups above hold too.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "wk_numpy.h"

#include <stdio.h>
#include <string.h>

#include "wk_machine.h"

#if !defined(_WIN32) && !defined(__EMSCRIPTEN__)
#include <unistd.h>
#endif
#ifdef __linux__
#include <sched.h>
#endif

typedef struct {
    int64_t cores, memory; /* INT64_MAX: no limit */
} Limits;

static void lower(int64_t *limit, int64_t found) {
    if (found > 0 && found < *limit) *limit = found;
}

/* Read up to two numbers of a file, of which "max" is -1. Return how many there are. */
static int read_numbers(const char *folder, const char *name, int64_t *numbers) {
    char path[4200], first[32], second[32];
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path) return 0;
    FILE *file = fopen(path, "r");
    if (file == NULL) return 0;
    int n = fscanf(file, "%31s %31s", first, second);
    fclose(file);
    for (int i = 0; i < n; i++) {
        long long number;
        numbers[i] = sscanf(i == 0 ? first : second, "%lld", &number) == 1 ? (int64_t)number : -1;
    }
    return n < 0 ? 0 : n;
}

static void read_group(const char *folder, Limits *limits) {
    int64_t quota[2], period[2], memory[2];
    if (read_numbers(folder, "cpu.max", quota) == 2 && quota[0] > 0 && quota[1] > 0) {
        lower(&limits->cores, (quota[0] - 1) / quota[1] + 1);
    }
    if (read_numbers(folder, "cpu.cfs_quota_us", quota) > 0 && quota[0] > 0 &&
        read_numbers(folder, "cpu.cfs_period_us", period) > 0 && period[0] > 0) {
        lower(&limits->cores, (quota[0] - 1) / period[0] + 1);
    }
    if (read_numbers(folder, "memory.max", memory) > 0) lower(&limits->memory, memory[0]);
    if (read_numbers(folder, "memory.limit_in_bytes", memory) > 0) lower(&limits->memory, memory[0]);
}

/* Read the limits of a group, and of all groups above it. In a container, the path of the group may not be there, but the root is. */
static void read_hierarchy(const char *root, const char *controller, char *group, Limits *limits) {
    char folder[4096];
    for (;;) {
        int size = snprintf(folder, sizeof folder, "%s%s%s%s", root, *controller ? "/" : "", controller, group);
        if (size > 0 && size < (int)sizeof folder) read_group(folder, limits);
        char *last = strrchr(group, '/');
        if (last == NULL) return;
        *last = '\0';
    }
}

/* root: where the hierarchies are mounted. groups: the file that lists the groups of the process, lines such as "0::/a/b" for
 * version 2 and "4:cpu,cpuacct:/a/b" for version 1. */
static Limits read_limits(const char *root, const char *groups) {
    Limits limits = {INT64_MAX, INT64_MAX};
    char line[4096];
    FILE *file = fopen(groups, "r");
    if (file == NULL) return limits;
    while (fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':'), *group = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
        if (group == NULL) continue;
        *group++ = '\0', controllers++;
        if (*controllers != '\0' && strstr(controllers, "cpu") == NULL && strcmp(controllers, "memory") != 0) continue;
        char path[4096];
        snprintf(path, sizeof path, "%s", group);
        read_hierarchy(root, controllers, path, &limits);
    }
    fclose(file);
    return limits;
}

static Limits own_limits(void) {
#ifdef __linux__
    return read_limits("/sys/fs/cgroup", "/proc/self/cgroup");
#else
    return (Limits){INT64_MAX, INT64_MAX};
#endif
}

int wk_usable_cores(void) {
    int64_t cores = 1;
#if !defined(_WIN32) && !defined(__EMSCRIPTEN__)
    cores = sysconf(_SC_NPROCESSORS_ONLN);
#endif
#ifdef __linux__
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) cores = CPU_COUNT(&set);
#endif
    int64_t limit = own_limits().cores;
    cores = cores < limit ? cores : limit;
    return cores < 1 ? 1 : (int)cores;
}

int64_t wk_usable_memory(void) {
    int64_t limit = own_limits().memory, bytes = -1;
#if !defined(_WIN32) && !defined(__EMSCRIPTEN__)
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGE_SIZE);
    if (pages > 0 && page > 0) bytes = (int64_t)pages * page;
#endif
    return limit != INT64_MAX && (bytes < 0 || limit < bytes) ? limit : bytes;
}

static PyObject *usable_cores_method(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    return PyLong_FromLong(wk_usable_cores());
}

/* Return (cores, bytes) that the control groups of a file allow, each None without a limit. For tests. */
static PyObject *group_limits_method(PyObject *module, PyObject *args) {
    (void)module;
    const char *root, *groups;
    if (!PyArg_ParseTuple(args, "ss", &root, &groups)) return NULL;
    Limits limits = read_limits(root, groups);
    int64_t found[] = {limits.cores, limits.memory};
    PyObject *both = PyTuple_New(2);
    for (int i = 0; both != NULL && i < 2; i++) {
        PyObject *number = found[i] == INT64_MAX ? Py_NewRef(Py_None) : PyLong_FromLongLong(found[i]);
        if (number == NULL) Py_CLEAR(both);
        else PyTuple_SET_ITEM(both, i, number);
    }
    return both;
}

PyMethodDef wk_machine_methods[] = {
    {"usable_cores", usable_cores_method, METH_NOARGS, "usable_cores(): number of cores that this process may use."},
    {"group_limits", group_limits_method, METH_VARARGS,
     "group_limits(root, groups): (cores, bytes) that the control groups in a file allow, each None without a limit."},
    {NULL, NULL, 0, NULL},
};
