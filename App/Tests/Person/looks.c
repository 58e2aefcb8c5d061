// A desktop with other settings, for a program that has this by LD_PRELOAD: the size of texts in percent (LOOK_TEXT), and text from right to
// left (LOOK_RTL).
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>

static int look(void *unused) {
    void *(*settings)(void) = dlsym(RTLD_DEFAULT, "gtk_settings_get_default");
    void (*set)(void *, const char *, ...) = dlsym(RTLD_DEFAULT, "g_object_set");
    void (*turn)(int) = dlsym(RTLD_DEFAULT, "gtk_widget_set_default_direction");
    const char *text = getenv("LOOK_TEXT");
    if (text && settings()) set(settings(), "gtk-xft-dpi", 96 * 1024 * atoi(text) / 100, (void *)0);
    if (getenv("LOOK_RTL")) turn(2);
    return 0;
}

int g_application_run(void *application, int count, char **arguments) {
    int (*run)(void *, int, char **) = dlsym(RTLD_NEXT, "g_application_run");
    unsigned long (*connect)(void *, const char *, void *, void *, void *, int) = dlsym(RTLD_DEFAULT, "g_signal_connect_data");
    connect(application, "startup", look, (void *)0, (void *)0, 1);
    return run(application, count, arguments);
}
