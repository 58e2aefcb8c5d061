#pragma once

/* The parts of Linux that Swift's Glibc module leaves out. */
#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/pidfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

/* A socket for changes of addresses, links and routes; -1 with errno. Here, because a Swift file that imports this module
   does not always see the constants of <sys/socket.h>. */
static inline int kalij_route_socket(void) {
    return socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_ROUTE);
}
