import CAdwaita
import Dispatch
import KalijApp
import KalijClient
import KalijDesktop

/// The window: the first start, or the lists and an open conversation.
final class MainWindow {
    let backend: Backend
    let reader: Reader
    let places: PlaceFile
    let writes = Writes()
    let application: OpaquePointer
    let window: Widget
    let conversations = ConversationsScreen()
    let screen = ConversationScreen()
    let firstStart: FirstStartScreen
    let pages = Pages()
    private(set) lazy var side = SideScreens(pages, reader.directory)
    let leaflet = widget(OpaquePointer(adw_leaflet_new()))
    let toasts = ToastQueue()

    // What has to be read again.
    var dirty: Set<ConversationKey> = []
    var isAllDirty = false
    var isLooking = false
    // Which process drives, and the states of the accounts.
    var driving = Driving.starting
    var states: [String: AccountStatus] = [:]
    var accounts: [String] = []
    // The open conversation.
    var thread: Thread?
    var openRow: ConversationRow?
    var isPaging = false
    var readingPace = ReadingPace()
    var isSearching = false
    /// The oldest message when older ones were requested last.
    var fetchedBefore: Int64?
    var isPlaceWaiting = false
    var typists: [ConversationKey: UInt32] = [:]
    var deletion: Deletion?
    var unsent = UnsentFiles()
    /// The group whose members are shown.
    var groupKey: ConversationKey?
    /// The contact that is shown.
    var contactKey: ConversationKey?
    /// The conversation in which the next text is encrypted although nobody is known to have keys.
    var keylessAttempt: ConversationKey?
    // Each of thousands of arrivals is a change.
    let groupPace = Throttle(interval: 500)
    let nickPace = Throttle(interval: 1000)
    let requestPace = Throttle(interval: 500)
    /// The number of changes without an outcome.
    var pendingChanges = 0
    private var wanted: String?
    /// Whether the accounts were read.
    private var hasBegun = false
    private(set) var isQuitting = false
    let words: CommandLineWords
    /// Nil without a session bus.
    let notifications: DesktopNotifications?
    /// Whether a process without a window follows this one.
    var continuesInBackground = false
    private(set) var isFirstStart = false
    /// The date to which the displayed day names refer.
    private var today = 0
    private var hasBeenActive = false

    /// - Parameter address: of the conversation to open.
    init(
        _ application: OpaquePointer, _ reader: Reader, _ first: FirstLook, _ words: CommandLineWords,
        visiting address: String?
    ) {
        self.application = application
        (self.words, wanted) = (words, address)
        self.reader = reader
        let directory = reader.directory
        let notifications = DesktopNotifications(reader, application: words.applicationID)
        self.notifications = notifications
        backend = Backend(directory, presenting: notifications?.presenter)
        places = PlaceFile(directory: directory.path)
        firstStart = FirstStartScreen(directory)
        window = widget(OpaquePointer(adw_application_window_new(cast(raw(application)))))
        Self.addStyle()
        build()
        connectScreens()
        addActions()
        addKeys()
        addNotifications()
        followDay()
        let known = first.contents(within: Self.firstLook)
        if let known { show(known) }
        Task { await begin(hasLooked: known != nil) }
    }

    /// Checks once a minute whether the date has changed, or the clock was set, and updates the day names.
    private func followDay() {
        let now = Days.number(wallNow())
        if today != 0, today != now {
            conversations.refresh()
            screen.list.refresh()
        }
        today = now
        after(60_000) { [weak self] in self?.followDay() }
    }

    private static func addStyle() {
        String(decoding: PackageResources.style_css, as: UTF8.self).withCString { kalij_add_css($0) }
    }

    private func build() {
        gtk_window_set_title(cast(raw(window)), "Kalij")
        gtk_window_set_default_size(cast(raw(window)), 900, 600)
        gtk_widget_set_size_request(window, 360, 294)
        for page in [conversations.root, screen.root] { adw_leaflet_append(opaque(leaflet), page) }
        let separator = widget(OpaquePointer(gtk_separator_new(GTK_ORIENTATION_VERTICAL)))
        if let page = adw_leaflet_insert_child_after(opaque(leaflet), separator, conversations.root) {
            adw_leaflet_page_set_navigatable(page, 0)
        }
        adw_leaflet_set_can_navigate_back(opaque(leaflet), 1)
        pages.add(leaflet, "")
        pages.add(firstStart.root, "")
        adw_toast_overlay_set_child(opaque(toasts.root), pages.root)
        adw_application_window_set_content(cast(raw(window)), toasts.root)
        Names.follow(toasts: toasts.root)
        connect(leaflet, "notify::folded") { [weak self] _ in self?.folded() }
        folded()
        screen.show(name: nil, subtitle: "")
        Names.fill(window)
        followStyle()
    }

    private func followStyle() {
        guard let manager = adw_style_manager_get_default() else { return }
        let apply = { [weak self] in
            guard let self else { return }
            window.setClass("dark", adw_style_manager_get_dark(manager) != 0)
            window.setClass("contrast", adw_style_manager_get_high_contrast(manager) != 0)
        }
        for property in ["dark", "high-contrast"] { connect(manager, "notify::" + property) { _ in apply() } }
        show(Appearance.load(in: reader.directory.path) ?? .desktop)
        apply()
    }

    var isFolded: Bool { adw_leaflet_get_folded(opaque(leaflet)) != 0 }
    private func folded() {
        screen.back.show(isFolded)
        conversations.showWindowButtons(isFolded)
    }

    func present() { gtk_window_present(cast(raw(window))) }

    private func connectScreens() {
        conversations.onOpen = { [weak self] row in self?.open(row) }
        conversations.onWanted = { [weak self] keys in
            self?.dirty.formUnion(keys)
            self?.look()
        }
        conversations.onNew = { [weak self] in self?.newConversation() }
        conversations.banner.onAction = { [weak self] action in self?.act(action) }
        screen.onBack = { [weak self] in self?.goBack() }
        screen.onOlder = { [weak self] in self?.older() }
        screen.onNewer = { [weak self] in self?.newer() }
        screen.onLatest = { [weak self] in self?.latest() }
        screen.onScrolled = { [weak self] in self?.scrolled() }
        screen.onFetch = { [weak self] in self?.fetchOlder() }
        screen.onLoad = { [weak self] gap in self?.load(gap) }
        screen.composer.onSend = { [weak self] text, meaning in self?.send(text, meaning) }
        connectActions()
        connectConversationActions()
        connectFiles()
        connectLinks()
        connectSearch()
        connectSide()
        connectAccounts()
        screen.composer.onDraft = { [weak self] draft in self?.keepDraft(draft) }
        connect(window, "notify::is-active") { [weak self] _ in
            self?.markRead()
            self?.repeatFirstFocus()
        }
        connect(window, "close-request") { [weak self] arguments in
            self?.close()
            arguments.answer(true)
        }
    }

    /// Sets the first focus again, if nothing was typed, once GTK has registered with the accessibility bus, which takes a few turns of the
    /// main loop: a screen reader is not notified of a focus that was set before.
    private func repeatFirstFocus() {
        guard !hasBeenActive, gtk_window_is_active(cast(raw(window))) != 0 else { return }
        hasBeenActive = true
        after(Self.registration) { [weak self] in
            guard let self else { return }
            let first = focused
            let isInList = gtk_widget_is_ancestor(first, conversations.list.view) != 0
            guard isFirstStart ? firstStart.isEmpty : isInList || first == screen.composer.text else { return }
            gtk_window_set_focus(cast(raw(window)), nil)
            first.focus()
        }
    }

    /// In milliseconds.
    private static let registration: UInt32 = 500

    // MARK: Pages

    /// How long the window waits for its first content.
    private static let firstLook = DispatchTimeInterval.milliseconds(100)

    private func show(_ first: FirstLook.Contents) {
        accounts = first.accounts
        if accounts.isEmpty { showFirstStart() } else { conversations.begin(first.list) }
    }

    private func begin(hasLooked: Bool) async {
        if !hasLooked {
            // Unreadable accounts are not a first start: the banner above the list reports the reason.
            let known = try? await reader.addresses()
            accounts = known ?? []
            if known?.isEmpty ?? false { showFirstStart() } else { await lookAtAll() }
        }
        if let target = words.target, accounts.contains(target.key.account) {
            await open(Place(target.key, message: nil))
        } else if let place = places.load(), !accounts.isEmpty, accounts.contains(place.key.account) {
            await open(place)
        } else if !accounts.isEmpty {
            focusList()
        }
        hasBegun = true
        if let wanted { openAddress(wanted) }
        for await look in backend.looks() { heard(look) }
    }

    func showFirstStart(address: String? = nil) {
        if !accounts.isEmpty { firstStart.notice = "" }
        firstStart.onCancel = accounts.isEmpty ? nil : { [weak self] in self?.showLists() }
        firstStart.prepare(address: address)
        isFirstStart = true
        side.shown = nil
        // GTK would pass the focus to several places of the page before it reaches the field.
        gtk_window_set_focus(cast(raw(window)), nil)
        pages.show(firstStart.root)
    }

    func showLists() {
        isFirstStart = false
        pages.show(leaflet)
    }

    /// - Parameter address: of the conversation to open.
    func loggedIn(_ account: String, visiting address: String? = nil) {
        states[account] = .connecting
        firstStart.notice = ""
        showLists()
        backend.tryNow()
        if let wanted = address ?? wanted { openAddress(wanted, of: account) } else { focusList() }
        isAllDirty = true
        look()
    }

    func showConversation() { adw_leaflet_set_visible_child(opaque(leaflet), screen.root) }

    /// Returns from the conversation to the list.
    func goBack() {
        if side.shown == .newAccount { return side.newAccount.back() }
        if leaveSide() { return }
        if isFirstStart {
            firstStart.onCancel?()
            return
        }
        // From a result, back to the other results.
        if conversations.isSearching, conversations.hasFocus { conversations.endSearch() }
        screen.composer.keep()
        if isFolded { adw_leaflet_set_visible_child(opaque(leaflet), conversations.root) }
        focusList()
    }

    /// Opens the conversation with an address, now or after the accounts were read.
    func visit(_ address: String) {
        if hasBegun { openAddress(address) } else { wanted = address }
    }

    func openAddress(_ address: String, of account: String? = nil) {
        if let invitation = InvitationLink(address) {
            let account = account ?? thread?.key.account ?? accounts.first
            // After a login the inviter can be added.
            wanted = account == nil && invitation.contact != nil ? address : nil
            return open(invitation, link: address, of: account)
        }
        guard let account = account ?? thread?.key.account ?? accounts.first else {
            wanted = address
            return
        }
        wanted = nil
        guard let jid = try? JID(address) else { return toast(Words.notAccepted(address.shownName)) }
        let key = ConversationKey(account: account, jid: jid.bare.description)
        Task {
            let row = try? await reader.conversation(key)
            open(row ?? ConversationRow(key: key, name: key.jid.shownName))
        }
    }

    /// Displays a short-lived notice, and announces it.
    /// - Parameter undo: called if the user chooses to undo.
    func toast(_ words: String, undo: (() -> Void)? = nil) {
        guard let toast = adw_toast_new("") else { return }
        // The title of a toast is markup.
        let plain = g_markup_escape_text(words, -1)
        adw_toast_set_title(toast, plain)
        g_free(plain)
        if let undo {
            adw_toast_set_button_label(toast, Words.undo)
            connect(toast, "button-clicked") { _ in undo() }
        }
        toasts.add(toast)
        Announcer.say(words)
    }

    // MARK: The end

    func quit() {
        guard !isQuitting else { return }
        isQuitting = true
        markRead(isLeaving: true)
        leaveComposer()
        unsent.discard()
        deletion?.end()
        keepPlace()
        window.show(false)
        Task {
            await writes.finish(within: .milliseconds(700))
            await backend.stop()
            g_application_quit(cast(raw(application)))
        }
    }
}
