#pragma once

/* The parts of Linux that Swift's Glibc module leaves out. */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/pidfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/fs.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

/* A socket for changes of addresses, links and routes; -1 with errno. Here, because a Swift file that imports this module
   does not always see the constants of <sys/socket.h>. */
static inline int kalij_route_socket(void) {
    return socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_ROUTE);
}

/* Makes `to` share the blocks of `from` (FICLONE, a macro that Swift does not see); -1 with errno. */
static inline int kalij_clone(int to, int from) { return ioctl(to, FICLONE, from); }

/* Renames, and fails with EEXIST if the new name is taken; -1 with errno. By number, because <stdio.h> declares renameat2
   for _GNU_SOURCE only. */
static inline int kalij_rename_new(const char *from, const char *to) {
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
}
