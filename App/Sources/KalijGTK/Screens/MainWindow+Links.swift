import CAdwaita
import KalijApp
import KalijDesktop

/// The addresses in messages.
extension MainWindow {
    func connectLinks() {
        screen.onLink = { [weak self] link in self?.open(link) }
        screen.onCopyLink = { [weak self] link in
            guard let self else { return }
            gdk_clipboard_set_text(gtk_widget_get_clipboard(window), link.address)
            Announcer.say(Words.copied)
        }
    }

    /// Opens an address, after a question if it may lead elsewhere than it seems to.
    private func open(_ link: TextLink) {
        guard let doubt = link.doubt else { return follow(link) }
        let open = Dialogs.Answer(Words.open, ADW_RESPONSE_DEFAULT) { [weak self] in self?.follow(link) }
        Dialogs.choose(over: window, Words.openLinkQuestion, Words.doubt(doubt, of: link), [open])
    }

    private func follow(_ link: TextLink) {
        if link.kind == .chat { return CommandLineWords.address(link.address).map(visit) ?? () }
        let (ready, data) = whenReady { [weak self] window, result in
            guard gtk_show_uri_full_finish(cast(window), result, nil) == 0 else { return }
            self?.toast(Words.cannotOpenLink)
        }
        gtk_show_uri_full(cast(raw(window)), link.address, UInt32(GDK_CURRENT_TIME), nil, ready, data)
    }
}
