#pragma once
#include <adwaita.h>
#include <gio/gio.h>
#include <glib-unix.h>
#include <locale.h>

// Functions with variable arguments and macros, which Swift does not see.

/// A GObject with a reference to an object of Swift.
typedef struct {
    GObject parent;
    void *swift;
} KalijObject;

static inline GType kalij_type_object(void) { return G_TYPE_OBJECT; }
static inline GType kalij_type_list_model(void) { return G_TYPE_LIST_MODEL; }
static inline GType kalij_type_box(void) { return GTK_TYPE_BOX; }
static inline GType kalij_type_label(void) { return GTK_TYPE_LABEL; }
static inline GType kalij_type_avatar(void) { return ADW_TYPE_AVATAR; }
static inline GType kalij_type_flow_box(void) { return GTK_TYPE_FLOW_BOX; }
static inline GType kalij_type_flow_box_child(void) { return GTK_TYPE_FLOW_BOX_CHILD; }
static inline GType kalij_type_image(void) { return GTK_TYPE_IMAGE; }

static inline const char *kalij_class(void *object) { return G_OBJECT_TYPE_NAME(object); }
static inline void kalij_name(GtkWidget *widget, const char *text) {
    gtk_accessible_update_property(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_PROPERTY_LABEL, text, -1);
}
static inline void kalij_description(GtkWidget *widget, const char *text) {
    gtk_accessible_update_property(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, text, -1);
}
static inline void kalij_expanded(GtkWidget *widget, gboolean is_expanded) {
    gtk_accessible_update_state(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_STATE_EXPANDED, is_expanded, -1);
}
/// The description of `label` becomes that of the widget.
static inline void kalij_described_by(GtkWidget *widget, GtkWidget *label) {
    gtk_accessible_update_relation(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_RELATION_DESCRIBED_BY, label, NULL, -1);
}
/// A widget with another role: a widget's role cannot be changed after its construction.
static inline GtkWidget *kalij_new_with_role(GType type, GtkAccessibleRole role) {
    return g_object_new(type, "accessible-role", role, NULL);
}
static inline void *kalij_get_object(const GValue *v) { return G_VALUE_HOLDS_OBJECT(v) ? g_value_get_object(v) : NULL; }
static inline void *kalij_get_pointer(const GValue *v) { return G_VALUE_HOLDS_POINTER(v) ? g_value_get_pointer(v) : NULL; }
static inline unsigned kalij_get_uint(const GValue *v) { return G_VALUE_HOLDS_UINT(v) ? g_value_get_uint(v) : 0; }
static inline int kalij_get_flags(const GValue *v) { return G_VALUE_HOLDS_FLAGS(v) ? (int)g_value_get_flags(v) : 0; }
static inline double kalij_get_double(const GValue *v) { return G_VALUE_HOLDS_DOUBLE(v) ? g_value_get_double(v) : 0; }
static inline const char *kalij_get_string(const GValue *v) { return G_VALUE_HOLDS_STRING(v) ? g_value_get_string(v) : NULL; }
static inline void kalij_set_boolean(GValue *v, gboolean b) {
    if (v && G_VALUE_HOLDS_BOOLEAN(v)) g_value_set_boolean(v, b);
}
static inline void kalij_connect(void *object, const char *signal, GClosure *closure) {
    g_signal_connect_closure(object, signal, closure, FALSE);
}
static inline GVariant *kalij_uint_variant(unsigned n) { return g_variant_new_uint32(n); }
static inline void kalij_set_string_property(void *object, const char *name, const char *value) {
    g_object_set(object, name, value, NULL);
}
static inline void kalij_set_boolean_property(void *object, const char *name, gboolean value) {
    g_object_set(object, name, value, NULL);
}
static inline AdwApplication *kalij_application(const char *id, gboolean is_alone) {
    return adw_application_new(id, G_APPLICATION_HANDLES_OPEN | (is_alone ? G_APPLICATION_NON_UNIQUE : G_APPLICATION_FLAGS_NONE));
}
static inline GSimpleAction *kalij_action(const char *name) { return g_simple_action_new(name, NULL); }
static inline GSimpleAction *kalij_check_action(const char *name, gboolean is_on) {
    return g_simple_action_new_stateful(name, NULL, g_variant_new_boolean(is_on));
}
static inline void kalij_add_css(const char *css) {
    GtkCssProvider *provider = gtk_css_provider_new();
    gtk_css_provider_load_from_data(provider, css, -1);
    gtk_style_context_add_provider_for_display(
        gdk_display_get_default(), GTK_STYLE_PROVIDER(provider), GTK_STYLE_PROVIDER_PRIORITY_APPLICATION);
    g_object_unref(provider);
}
static inline GtkWidget *kalij_message_dialog(GtkWindow *parent, const char *heading) {
    return adw_message_dialog_new(parent, heading, NULL);
}
static inline GType kalij_type_picture(void) { return GTK_TYPE_PICTURE; }
static inline GType kalij_type_file_list(void) { return GDK_TYPE_FILE_LIST; }
/// The files of a dropped or pasted value (GDK_TYPE_FILE_LIST); null for another value. The list is released with g_slist_free.
static inline GSList *kalij_files(const GValue *value) {
    if (!value || !G_VALUE_HOLDS(value, GDK_TYPE_FILE_LIST)) return NULL;
    return gdk_file_list_get_files(g_value_get_boxed(value));
}
/// The value of a signal's argument that is itself a GValue.
static inline const GValue *kalij_get_value(const GValue *v) {
    return G_VALUE_HOLDS(v, G_TYPE_VALUE) ? g_value_get_boxed(v) : v;
}
static inline int kalij_get_int(const GValue *v) { return G_VALUE_HOLDS_INT(v) ? g_value_get_int(v) : 0; }
static inline void *kalij_file_chooser(const char *title, GtkWindow *parent, GtkFileChooserAction action, const char *accept) {
    return gtk_file_chooser_native_new(title, parent, action, accept, NULL);
}
static inline GtkNativeDialog *kalij_native_dialog(void *object) { return GTK_NATIVE_DIALOG(object); }
static inline GtkFileChooser *kalij_chooser(void *object) { return GTK_FILE_CHOOSER(object); }
static inline GFile *kalij_file(void *object) { return G_FILE(object); }
