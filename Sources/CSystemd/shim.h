#pragma once
/* Only the declarations of libsystemd's sd-bus: the library is loaded by dlopen when a command needs the session bus, and
   nothing is linked. */
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/pidfd.h>
#include <systemd/sd-bus.h>

/* The functions of libsystemd that we call. */
typedef struct {
    __typeof__(&sd_bus_open_user) open_user;
    __typeof__(&sd_bus_flush_close_unref) flush_close_unref;
    __typeof__(&sd_bus_get_unique_name) get_unique_name;
    __typeof__(&sd_bus_get_fd) get_fd;
    __typeof__(&sd_bus_get_events) get_events;
    __typeof__(&sd_bus_get_timeout) get_timeout;
    __typeof__(&sd_bus_process) process;
    __typeof__(&sd_bus_flush) flush;
    __typeof__(&sd_bus_call) call;
    __typeof__(&sd_bus_send) send;
    __typeof__(&sd_bus_request_name) request_name;
    __typeof__(&sd_bus_release_name) release_name;
    __typeof__(&sd_bus_error_free) error_free;
    __typeof__(&sd_bus_message_new_method_call) message_new_method_call;
    __typeof__(&sd_bus_message_new_method_return) message_new_method_return;
    __typeof__(&sd_bus_message_unref) message_unref;
    __typeof__(&sd_bus_message_get_type) message_get_type;
    __typeof__(&sd_bus_message_get_reply_cookie) message_get_reply_cookie;
    __typeof__(&sd_bus_message_get_expect_reply) message_get_expect_reply;
    __typeof__(&sd_bus_message_get_path) message_get_path;
    __typeof__(&sd_bus_message_get_interface) message_get_interface;
    __typeof__(&sd_bus_message_get_member) message_get_member;
    __typeof__(&sd_bus_message_get_sender) message_get_sender;
    __typeof__(&sd_bus_message_get_error) message_get_error;
    __typeof__(&sd_bus_message_append_basic) message_append_basic;
    __typeof__(&sd_bus_message_open_container) message_open_container;
    __typeof__(&sd_bus_message_close_container) message_close_container;
    __typeof__(&sd_bus_message_peek_type) message_peek_type;
    __typeof__(&sd_bus_message_read_basic) message_read_basic;
    __typeof__(&sd_bus_message_read_array) message_read_array;
    __typeof__(&sd_bus_message_enter_container) message_enter_container;
    __typeof__(&sd_bus_message_exit_container) message_exit_container;
    __typeof__(&sd_bus_message_skip) message_skip;
    __typeof__(&sd_bus_message_at_end) message_at_end;
} kalij_bus;

/* Finds the functions. Returns the name of the first missing function, NULL if there is none. */
static inline const char *kalij_bus_find(kalij_bus *b, void *library) {
#define KALIJ_FIND(name) \
    if (!(b->name = (__typeof__(b->name))dlsym(library, "sd_bus_" #name))) return "sd_bus_" #name;
    KALIJ_FIND(open_user)
    KALIJ_FIND(flush_close_unref)
    KALIJ_FIND(get_unique_name)
    KALIJ_FIND(get_fd)
    KALIJ_FIND(get_events)
    KALIJ_FIND(get_timeout)
    KALIJ_FIND(process)
    KALIJ_FIND(flush)
    KALIJ_FIND(call)
    KALIJ_FIND(send)
    KALIJ_FIND(request_name)
    KALIJ_FIND(release_name)
    KALIJ_FIND(error_free)
    KALIJ_FIND(message_new_method_call)
    KALIJ_FIND(message_new_method_return)
    KALIJ_FIND(message_unref)
    KALIJ_FIND(message_get_type)
    KALIJ_FIND(message_get_reply_cookie)
    KALIJ_FIND(message_get_expect_reply)
    KALIJ_FIND(message_get_path)
    KALIJ_FIND(message_get_interface)
    KALIJ_FIND(message_get_member)
    KALIJ_FIND(message_get_sender)
    KALIJ_FIND(message_get_error)
    KALIJ_FIND(message_append_basic)
    KALIJ_FIND(message_open_container)
    KALIJ_FIND(message_close_container)
    KALIJ_FIND(message_peek_type)
    KALIJ_FIND(message_read_basic)
    KALIJ_FIND(message_read_array)
    KALIJ_FIND(message_enter_container)
    KALIJ_FIND(message_exit_container)
    KALIJ_FIND(message_skip)
    KALIJ_FIND(message_at_end)
#undef KALIJ_FIND
    return NULL;
}
