/* What no program of libadwaita can be faster than: a window with a header bar and fifteen labels in a list. */
#include <adwaita.h>

static void activate(GtkApplication *application, void *data) {
    GtkWidget *window = adw_application_window_new(application), *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    GtkWidget *list = gtk_list_box_new();
    for (int i = 0; i < 15; i++) gtk_list_box_append(GTK_LIST_BOX(list), gtk_label_new("A conversation"));
    gtk_box_append(GTK_BOX(box), adw_header_bar_new());
    gtk_box_append(GTK_BOX(box), list);
    adw_application_window_set_content(ADW_APPLICATION_WINDOW(window), box);
    gtk_window_set_default_size(GTK_WINDOW(window), 900, 600);
    gtk_window_present(GTK_WINDOW(window));
}

int main(int count, char **words) {
    AdwApplication *application = adw_application_new("im.kalij.Bare", G_APPLICATION_NON_UNIQUE);
    g_signal_connect(application, "activate", G_CALLBACK(activate), NULL);
    return g_application_run(G_APPLICATION(application), count, words);
}
