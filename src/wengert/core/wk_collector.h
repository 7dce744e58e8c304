/* Objects that Python's garbage collector does not know while nothing of the user's can tie them into a cycle.
 *
 * See Note [Untracked] in collector.py. wk_spare untracks a new object and links it into a list of ours, through a wk_link among
 * the object's own fields. wk_reveal tracks all objects of the lists. The functions of the collector that are used are public.
 */
#ifndef WK_COLLECTOR_H
#define WK_COLLECTOR_H
#include <Python.h>
#include <stddef.h>

typedef struct wk_link {
    struct wk_link *next, *previous; /* NULL: the object is in no list */
} wk_link;

enum { WK_TENSOR, WK_NODE, WK_VIEW, WK_KINDS };

typedef struct {
    wk_link lists[WK_KINDS];        /* circular; each is the head of its list */
    ptrdiff_t offsets[WK_KINDS];    /* of the link in an object of this kind */
    Py_ssize_t attachments;         /* objects alive through which a cycle may pass: while there are any, nothing is untracked */
} wk_spared;

/* The lists. collector.py makes them and hands them to the other modules. */
static wk_spared *wk_spared_ = NULL;
static inline void wk_share_spared(void *spared) { wk_spared_ = (wk_spared *)spared; }

static inline void *wk_new_spared(void) {
    static wk_spared spared;
    for (int kind = 0; kind < WK_KINDS; kind++) {
        spared.lists[kind].next = spared.lists[kind].previous = &spared.lists[kind];
    }
    return &spared;
}

/* Untrack a new object, unless something alive may tie it into a cycle. link: the object's own. */
static inline void wk_spare(PyObject *object, wk_link *link, int kind) {
    if (wk_spared_->attachments > 0) return;
    PyObject_GC_UnTrack(object);
    wk_link *list = &wk_spared_->lists[kind];
    wk_spared_->offsets[kind] = (char *)link - (char *)object;
    link->next = list;
    link->previous = list->previous;
    list->previous->next = link;
    list->previous = link;
}

/* Take an object that is being freed out of its list. */
static inline void wk_forget(wk_link *link) {
    if (link->next == NULL) return;
    link->previous->next = link->next;
    link->next->previous = link->previous;
    link->next = NULL;
}

/* Track all objects of the lists, which are empty afterwards. Objects without references are being freed: they stay untracked. */
static inline void wk_reveal(void) {
    for (int kind = 0; kind < WK_KINDS; kind++) {
        wk_link *list = &wk_spared_->lists[kind];
        for (wk_link *link = list->next, *next; link != list; link = next) {
            PyObject *object = (PyObject *)((char *)link - wk_spared_->offsets[kind]);
            next = link->next;
            link->next = NULL;
            if (Py_REFCNT(object) > 0 && !PyObject_GC_IsTracked(object)) PyObject_GC_Track(object);
        }
        list->next = list->previous = list;
    }
}

/* Count an attachment (1), or the end of one (-1). The first tracks all objects. */
static inline void wk_count_attachment(int change) {
    wk_spared_->attachments += change;
    if (change > 0 && wk_spared_->attachments == change) wk_reveal();
}

/* Whether a value may be part of a cycle: it is of a kind that the collector knows, and no tuple of others. */
static inline int wk_may_cycle(PyObject *value) {
    if (!PyObject_IS_GC(value)) return 0;
    if (!PyTuple_Check(value)) return 1;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(value); i++) {
        if (wk_may_cycle(PyTuple_GET_ITEM(value, i))) return 1;
    }
    return 0;
}

/* Whether an attribute that was set is no property of cls: it lies in the object's __dict__, or may lie in a slot of a subclass. */
static inline int wk_is_own_attribute(PyObject *object, PyObject *name, PyObject *cls) {
    if (Py_TYPE(object)->tp_basicsize != ((PyTypeObject *)cls)->tp_basicsize) return 1;
    PyObject *dict = PyObject_GenericGetDict(object, NULL);
    if (dict == NULL) return -1;
    int found = PyDict_Contains(dict, name);
    Py_DECREF(dict);
    return found;
}

static inline int wk_set_attribute(PyObject *object, PyObject *name, PyObject *value) {
    return PyObject_GenericSetAttr(object, name, value);
}
#endif
