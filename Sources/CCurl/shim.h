#pragma once
/* Only the declarations of libcurl: the library is loaded by dlopen when the first transfer begins, and nothing is
   linked. The typechecks of curl's header would turn its functions into macros. */
#ifndef CURL_DISABLE_TYPECHECK
#define CURL_DISABLE_TYPECHECK
#endif
#include <curl/curl.h>
#include <dlfcn.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <linux/sockios.h>

/* The functions of libcurl that we call. */
typedef struct {
    __typeof__(&curl_global_init) global_init;
    __typeof__(&curl_version_info) version_info;
    __typeof__(&curl_slist_append) slist_append;
    __typeof__(&curl_slist_free_all) slist_free_all;
    __typeof__(&curl_easy_init) easy_init;
    __typeof__(&curl_easy_cleanup) easy_cleanup;
    __typeof__(&curl_easy_pause) easy_pause;
    __typeof__(&curl_easy_strerror) easy_strerror;
    CURLcode (*easy_setopt)(CURL *, CURLoption, ...);
    CURLcode (*easy_getinfo)(CURL *, CURLINFO, ...);
    __typeof__(&curl_multi_init) multi_init;
    __typeof__(&curl_multi_cleanup) multi_cleanup;
    __typeof__(&curl_multi_add_handle) multi_add_handle;
    __typeof__(&curl_multi_remove_handle) multi_remove_handle;
    __typeof__(&curl_multi_info_read) multi_info_read;
    __typeof__(&curl_multi_socket_action) multi_socket_action;
    CURLMcode (*multi_setopt)(CURLM *, CURLMoption, ...);
    __typeof__(&curl_url) url;
    __typeof__(&curl_url_cleanup) url_cleanup;
    __typeof__(&curl_url_get) url_get;
    __typeof__(&curl_url_set) url_set;
    __typeof__(&curl_free) free;
} kalij_curl;

/* Finds the functions. Returns the name of the first missing function, NULL if there is none. */
static inline const char *kalij_curl_find(kalij_curl *c, void *library) {
#define KALIJ_FIND(name) \
    if (!(c->name = (__typeof__(c->name))dlsym(library, "curl_" #name))) return "curl_" #name;
    KALIJ_FIND(global_init)
    KALIJ_FIND(version_info)
    KALIJ_FIND(slist_append)
    KALIJ_FIND(slist_free_all)
    KALIJ_FIND(easy_init)
    KALIJ_FIND(easy_cleanup)
    KALIJ_FIND(easy_pause)
    KALIJ_FIND(easy_strerror)
    KALIJ_FIND(easy_setopt)
    KALIJ_FIND(easy_getinfo)
    KALIJ_FIND(multi_init)
    KALIJ_FIND(multi_cleanup)
    KALIJ_FIND(multi_add_handle)
    KALIJ_FIND(multi_remove_handle)
    KALIJ_FIND(multi_info_read)
    KALIJ_FIND(multi_socket_action)
    KALIJ_FIND(multi_setopt)
    KALIJ_FIND(url)
    KALIJ_FIND(url_cleanup)
    KALIJ_FIND(url_get)
    KALIJ_FIND(url_set)
    KALIJ_FIND(free)
#undef KALIJ_FIND
    return NULL;
}

/* Macros, unavailable in Swift. */
static inline CURLcode kalij_curl_init(const kalij_curl *c) { return c->global_init(CURL_GLOBAL_DEFAULT); }
static inline unsigned kalij_curl_version(const kalij_curl *c) { return c->version_info(CURLVERSION_NOW)->version_num; }

/* Functions with any number of arguments, unavailable in Swift. */
static inline CURLcode kalij_curl_set_long(const kalij_curl *c, CURL *e, CURLoption o, long v) {
    return c->easy_setopt(e, o, v);
}
static inline CURLcode kalij_curl_set_offset(const kalij_curl *c, CURL *e, CURLoption o, curl_off_t v) {
    return c->easy_setopt(e, o, v);
}
/* curl copies the text. */
static inline CURLcode kalij_curl_set_text(const kalij_curl *c, CURL *e, CURLoption o, const char *v) {
    return c->easy_setopt(e, o, v);
}
static inline CURLcode kalij_curl_set_pointer(const kalij_curl *c, CURL *e, CURLoption o, void *v) {
    return c->easy_setopt(e, o, v);
}
static inline CURLcode kalij_curl_set_read(const kalij_curl *c, CURL *e, curl_read_callback f, void *user) {
    CURLcode r = c->easy_setopt(e, CURLOPT_READFUNCTION, f);
    return r ? r : c->easy_setopt(e, CURLOPT_READDATA, user);
}
static inline CURLcode kalij_curl_set_write(const kalij_curl *c, CURL *e, curl_write_callback f, void *user) {
    CURLcode r = c->easy_setopt(e, CURLOPT_WRITEFUNCTION, f);
    return r ? r : c->easy_setopt(e, CURLOPT_WRITEDATA, user);
}
static inline CURLcode kalij_curl_set_header(const kalij_curl *c, CURL *e, curl_write_callback f, void *user) {
    CURLcode r = c->easy_setopt(e, CURLOPT_HEADERFUNCTION, f);
    return r ? r : c->easy_setopt(e, CURLOPT_HEADERDATA, user);
}
static inline CURLcode kalij_curl_set_sockets(
    const kalij_curl *c, CURL *e, curl_opensocket_callback open, void *opener, curl_closesocket_callback close, void *closer
) {
    CURLcode r = c->easy_setopt(e, CURLOPT_OPENSOCKETFUNCTION, open);
    if (!r) r = c->easy_setopt(e, CURLOPT_OPENSOCKETDATA, opener);
    if (!r) r = c->easy_setopt(e, CURLOPT_CLOSESOCKETFUNCTION, close);
    return r ? r : c->easy_setopt(e, CURLOPT_CLOSESOCKETDATA, closer);
}
static inline CURLcode kalij_curl_set_progress(const kalij_curl *c, CURL *e, curl_xferinfo_callback f, void *user) {
    CURLcode r = c->easy_setopt(e, CURLOPT_XFERINFOFUNCTION, f);
    if (!r) r = c->easy_setopt(e, CURLOPT_XFERINFODATA, user);
    return r ? r : c->easy_setopt(e, CURLOPT_NOPROGRESS, 0L);
}
/* The SSL of a connection by OpenSSL, or NULL. */
static inline void *kalij_curl_tls(const kalij_curl *c, CURL *e) {
    struct curl_tlssessioninfo *i = NULL;
    if (c->easy_getinfo(e, CURLINFO_TLS_SSL_PTR, &i) || !i || i->backend != CURLSSLBACKEND_OPENSSL) return NULL;
    return i->internals;
}
static inline CURLcode kalij_curl_get_offset(const kalij_curl *c, CURL *e, CURLINFO i, curl_off_t *v) {
    return c->easy_getinfo(e, i, v);
}
static inline CURLMcode kalij_curl_set_events(
    const kalij_curl *c, CURLM *m, curl_socket_callback s, curl_multi_timer_callback t, void *user
) {
    CURLMcode r = c->multi_setopt(m, CURLMOPT_SOCKETFUNCTION, s);
    if (!r) r = c->multi_setopt(m, CURLMOPT_SOCKETDATA, user);
    if (!r) r = c->multi_setopt(m, CURLMOPT_TIMERFUNCTION, t);
    return r ? r : c->multi_setopt(m, CURLMOPT_TIMERDATA, user);
}

/* The constants of <sys/socket.h> are not always seen by a Swift file that imports this module. */
static inline int kalij_open_socket(const struct curl_sockaddr *a) {
    return socket(a->family, a->socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, a->protocol);
}
static inline void kalij_set_send_buffer(int fd, int bytes) {
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
}
/* Whether the end of the descriptor, by whomever, is a reset. */
static inline void kalij_set_reset_at_end(int fd, int on) {
    struct linger l = { on, 0 };
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &l, sizeof l);
}
/* Breaks a connection off with a reset; nothing leaves afterwards, no closure alert of TLS either. */
static inline void kalij_reset(int fd) {
    struct sockaddr none = { .sa_family = AF_UNSPEC };
    kalij_set_reset_at_end(fd, 1);
    connect(fd, &none, sizeof none);
}
/* Whether the connection has been reset. */
static inline int kalij_is_dead(int fd) {
    unsigned char state = 0; /* tcpi_state, the first field */
    socklen_t size = sizeof state;
    return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &state, &size) == 0 && state == TCP_CLOSE;
}
/* Bytes that the other side has not acknowledged yet. */
static inline int kalij_unacknowledged(int fd) {
    int bytes = 0;
    return ioctl(fd, SIOCOUTQ, &bytes) == 0 && bytes > 0 ? bytes : 0;
}
