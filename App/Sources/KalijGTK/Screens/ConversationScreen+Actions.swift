import CAdwaita
import KalijApp

/// The actions on a message: its menu, and their keys while it is selected.
extension ConversationScreen {
    func listenForActions() {
        list.listenForMenu(over: root) { [weak self] place, at in self?.showMenu(of: place, at: at) }
        list.onSelected = { [weak self] in self?.actions.update() }
        actions.onPressed = { [weak self] place in
            guard let self, let at = actions.bounds(in: root) else { return }
            list.select(place)
            showMenu(of: place, at: at)
        }
        guard let keys = gtk_event_controller_key_new() else { return }
        connect(keys, "key-pressed") { [weak self] arguments in
            arguments.answer(self?.handled(arguments.uint(1), arguments.flags(3)) ?? false)
        }
        gtk_widget_add_controller(list.view, keys)
    }

    private func message(at place: Int) -> MessageRow? {
        list.rows.indices.contains(place) ? list.rows[place].message : nil
    }

    private func showMenu(of place: Int, at bounds: GdkRectangle) {
        guard let message = message(at: place) else { return }
        let items = { (isDestructive: Bool) in
            message.actions.filter { $0.isDestructive == isDestructive }.map { action in
                MenuItem(action.words, keys: action.keys) { [weak self] in self?.onAction(action, message) }
            }
        }
        let files = (message.file?.actions ?? []).map { action in
            MenuItem(action.words) { [weak self] in self?.onFile(message, action) }
        }
        let own = message.ownReactions.map { emoji in
            MenuItem(Words.removeReaction(emoji.shownName)) { [weak self] in self?.onReact(message, emoji) }
        }
        let links = message.links.flatMap { [opening($0), copying($0)] }
        ContextMenu.show([files, links, items(false), own, items(true)], over: root, at: bounds) { [weak self] in
            self?.list.focusRow(or: place)
        }
    }

    private func opening(_ link: TextLink) -> MenuItem {
        MenuItem(Words.open(link)) { [weak self] in self?.onLink(link) }
    }

    private func copying(_ link: TextLink) -> MenuItem {
        MenuItem(Words.copy(link)) { [weak self] in self?.onCopyLink(link) }
    }

    /// Displays the addresses of a message, to open one of them.
    func showLinks(of message: MessageRow, at place: Int) {
        guard let bounds = list.bounds(of: place, in: root) else { return }
        ContextMenu.show([message.links.map(opening)], over: root, at: bounds) { [weak self] in
            self?.list.focusRow(or: place)
        }
    }

    /// Displays some reactions to a message, and the way to all others.
    func chooseReaction(to message: MessageRow) {
        afterMenu(at: message) { [weak self] place, bounds in
            guard let self else { return }
            let quick = message.quickReactions.map { reaction in
                MenuItem(reaction.words, spoken: reaction.name) { [weak self] in
                    self?.onReact(message, reaction.emoji)
                }
            }
            let others = MenuItem(Words.otherEmoji) { [weak self] in self?.chooseEmoji(for: message) }
            ContextMenu.show([quick, [others]], over: root, at: bounds, name: Words.reaction) { [weak self] in
                self?.list.focusRow(or: place)
            }
        }
    }

    /// Displays the chooser of emoji at a message.
    private func chooseEmoji(for message: MessageRow) {
        afterMenu(at: message) { [weak self] place, bounds in
            guard let self, let chooser = gtk_emoji_chooser_new() else { return }
            connect(chooser, "emoji-picked") { [weak self] arguments in
                if let emoji = arguments.string(1) { self?.onReact(message, emoji) }
            }
            EmojiNames.follow(chooser)
            ContextMenu.present(chooser, Words.emoji, over: root, at: bounds) { [weak self] in
                self?.list.focusRow(or: place)
            }
            // The chooser of GTK 4.8 says nothing by itself.
            Announcer.say(Words.emojiHint)
        }
    }

    /// Calls `show` with the place of a message when the window has the focus again after a menu: a screen reader does not present
    /// a focus change before that.
    private func afterMenu(at message: MessageRow, _ show: @escaping (Int, GdkRectangle) -> Void) {
        after(Self.closing) { [weak self] in
            guard let self, let place = list.rows.firstIndex(where: { $0.message?.id == message.id }),
                let bounds = list.bounds(of: place, in: root)
            else { return }
            show(place, bounds)
        }
    }

    /// In milliseconds.
    private static let closing: UInt32 = 150

    private func handled(_ key: UInt32, _ modifiers: Int32) -> Bool {
        let held = modifiers & Int32(gtk_accelerator_get_default_mod_mask().rawValue)
        if key == UInt32(GDK_KEY_z), held == Int32(GDK_CONTROL_MASK.rawValue) {
            onUndo()
            return true
        }
        guard let place = list.selectedPlace, let message = message(at: place),
            let action = message.actions.first(where: { $0.keys.map { Keys.isPressed($0, key, held) } ?? false })
        else { return false }
        onAction(action, message)
        return true
    }
}

/// Keys in GTK's notation.
enum Keys {
    static func isPressed(_ keys: String, _ key: UInt32, _ modifiers: Int32) -> Bool {
        var (wanted, held) = (UInt32(0), GdkModifierType(rawValue: 0))
        guard gtk_accelerator_parse(keys, &wanted, &held) != 0 else { return false }
        return gdk_keyval_to_lower(key) == wanted && modifiers == Int32(held.rawValue)
    }
}
