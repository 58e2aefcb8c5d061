#pragma once
#include <microhttpd.h>

/* Variadic functions, unavailable in Swift.
   MHD_OPTION_LISTENING_ADDRESS_REUSE would let a second process listen on the same port (SO_REUSEPORT), unnoticed. */
static inline struct MHD_Daemon *kalij_mhd_start(const struct sockaddr *address, MHD_AccessHandlerCallback answer,
                                                 MHD_NotifyConnectionCallback changed, void *user) {
    return MHD_start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, answer, user, MHD_OPTION_SOCK_ADDR, address,
                            MHD_OPTION_NOTIFY_CONNECTION, changed, user,
                            MHD_OPTION_CONNECTION_LIMIT, 64u, MHD_OPTION_CONNECTION_TIMEOUT, 10u, MHD_OPTION_END);
}
static inline int kalij_mhd_socket(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}
static inline int kalij_mhd_epoll(struct MHD_Daemon *daemon) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD);
    return info ? info->epoll_fd : -1;
}
/* Names of enumerations in Swift depend on the library's version. */
static inline int kalij_mhd_began(enum MHD_ConnectionNotificationCode code) {
    return code == MHD_CONNECTION_NOTIFY_STARTED;
}
static inline const char *kalij_mhd_host(struct MHD_Connection *connection) {
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Host");
}
