#pragma once
#include <gio/gio.h>
#include <glib-unix.h>

// libdispatch's main queue, as CoreFoundation uses it: an eventfd, and a function that runs what is queued.
extern int _dispatch_get_main_queue_handle_4CF(void);
extern void _dispatch_main_queue_callback_4CF(void *);
