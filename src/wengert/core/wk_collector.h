/* Objects that young collections of Python's garbage collector pass over. See Note [Set aside] in collector.py.
 *
 * The header in front of a tracked object links it into the doubly linked list of its generation. wk_set_aside takes the object
 * out and links it into a list of ours. To the collector this list is like an older generation: the object is tracked, untracking
 * unlinks it, and no collection of younger objects visits it. wk_reveal moves the list into the youngest generation. The layout
 * is that of CPython 3.11 to 3.13 (PyGC_Head of pycore_gc.h), and is checked at run time. In other Pythons nothing is set aside.
 */
#ifndef WK_COLLECTOR_H
#define WK_COLLECTOR_H
#include <Python.h>
#include <stdint.h>

#if PY_VERSION_HEX < 0x030E0000 && !defined(Py_GIL_DISABLED) && !defined(PYPY_VERSION)
#define WK_CAN_SET_ASIDE 1
#else
#define WK_CAN_SET_ASIDE 0
#endif

typedef struct wk_link {
    uintptr_t next;
    uintptr_t prev; /* its lowest two bits are the collector's own marks */
} wk_link;

#define WK_MARKS ((uintptr_t)3)

/* The list. collector.py makes it and hands it to the other modules. NULL: nothing is set aside. */
static wk_link *wk_aside_ = NULL;
static inline void wk_share_aside(void *list) { wk_aside_ = (wk_link *)list; }

static inline wk_link *wk_link_of(PyObject *object) { return (wk_link *)object - 1; }
static inline wk_link *wk_prev(wk_link *link) { return (wk_link *)(link->prev & ~WK_MARKS); }
static inline void wk_set_prev(wk_link *link, wk_link *prev) { link->prev = (link->prev & WK_MARKS) | (uintptr_t)prev; }

/* Set a tracked object aside. */
static inline void wk_set_aside(PyObject *object) {
    wk_link *list = wk_aside_, *link = wk_link_of(object);
    if (list == NULL || link->next == 0) return;
    wk_link *prev = wk_prev(link), *next = (wk_link *)link->next;
    prev->next = (uintptr_t)next;
    wk_set_prev(next, prev);
    wk_link *last = wk_prev(list);
    last->next = (uintptr_t)link;
    wk_set_prev(link, last);
    link->next = (uintptr_t)list;
    wk_set_prev(list, link);
}

/* Move the objects set aside into the youngest generation, in front of a new object, which is in it. */
static inline int wk_reveal(void) {
    wk_link *list = wk_aside_;
    if (list == NULL || list->next == (uintptr_t)list) return 0;
    PyObject *young = PyList_New(0);
    if (young == NULL) return -1;
    wk_link *after = wk_link_of(young), *before = wk_prev(after);
    wk_link *first = (wk_link *)list->next, *last = wk_prev(list);
    before->next = (uintptr_t)first;
    wk_set_prev(first, before);
    last->next = (uintptr_t)after;
    wk_set_prev(after, last);
    list->next = list->prev = (uintptr_t)list;
    Py_DECREF(young);
    return 0;
}

/* Return a new list, or NULL if this Python's headers have another layout. */
static inline void *wk_new_aside(void) {
#if WK_CAN_SET_ASIDE
    static wk_link list;
    PyObject *one = PyList_New(0), *other = PyList_New(0);
    int known = one != NULL && other != NULL;
    if (known) {
        wk_link *link = wk_link_of(one);
        known = sizeof(wk_link) == 16 && link->next == (uintptr_t)wk_link_of(other) && wk_prev(wk_link_of(other)) == link;
        PyObject_GC_UnTrack(one);
        known = known && link->next == 0;
        PyObject_GC_Track(one);
    }
    Py_XDECREF(one);
    Py_XDECREF(other);
    PyErr_Clear();
    list.next = list.prev = (uintptr_t)&list;
    return known ? &list : NULL;
#else
    return NULL;
#endif
}
#endif
