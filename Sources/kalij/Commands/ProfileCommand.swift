import KalijAddress
import KalijClient
import KalijText

enum ProfileCommand: Command {
    static let name = "profile"
    static let usage = "[JID] [--name N] [--avatar FILE] [--account JID] [--queue-only | --wait]"
    static let summary = "show or change names and pictures"
    static let details = """
        Prints what JID says about itself, or without JID what you say: the nickname (XEP-0172), the file of the picture (XEP-0084,
        XEP-0153) and the vCard (XEP-0054). Anybody can call himself anything. JID is asked first, within 30 seconds, and the
        picture is fetched; with --queue-only nobody is asked. The picture is a PNG, JPEG, GIF or WebP of at most 256 KiB, in a
        file named by its SHA-1. Exit status 1 if nothing is known.

        With --name or --avatar your own profile is changed. Contacts see the nickname and the picture; the nickname is in your
        vCard, too, which everybody can read. Everything else in the vCard stays. An empty N or FILE removes the nickname or the
        picture. Many servers take no picture larger than 40 kB, and some have no personal nodes: then the change fails.

        \(IntentRunner.details)

        With --json and without a change, a line such as:
          {"event":"profile","account":"juliet@example.org","at":"...","contact":"romeo@example.net",
           "nick":"Romeo","avatar":"0beec7...","vcard":{"FN":["Romeo"]},
           "avatar_file":"/home/juliet/.local/share/kalij/pictures/1/0beec7..."}

        examples:
          kalij profile romeo@example.net
          kalij profile --name Juliet --avatar juliet.png
        """
    static let options: [Arguments.Option] =
        [
            .value("--name", "N", "be called N"),
            .value("--avatar", "FILE", "show the picture in FILE; - is standard input"),
        ] + IntentRunner.options

    static func run(_ arguments: Arguments, _ shared: SharedOptions) throws -> ExitStatus {
        try arguments.expect(0...1)
        let jid = try arguments.operands.first.map { try JID($0) }
        if arguments.value("--name") == nil, arguments.value("--avatar") == nil {
            return try show(jid, arguments, shared)
        }
        guard jid == nil else { throw Failure(.usage, "nobody but \(jid?.description ?? "") can change that profile") }
        let avatar = try arguments.value("--avatar").map { path in
            try path.isEmpty ? [] : Files.contents(path, limit: SetProfile.largestAvatar)
        }
        return try IntentRunner(arguments, shared).run(SetProfile(name: arguments.value("--name"), avatar: avatar))
    }

    private static func show(_ jid: JID?, _ arguments: Arguments, _ shared: SharedOptions) throws -> ExitStatus {
        let (_, account) = try ContactLister(arguments, shared).open()
        let jid = jid ?? account.jid
        guard !arguments.has("--queue-only") else {
            return try Self.print(jid, account, shared) ? .done : .nothing
        }
        do {
            let status = try IntentRunner(arguments, shared).run(FetchProfile(jid), waiting: true, isTold: false)
            let isKnown = try Self.print(jid, account, shared)
            return status != .done || isKnown ? status : .nothing
        } catch {
            // A stored profile is of use, too.
            _ = try Self.print(jid, account, shared)
            throw error
        }
    }

    /// - Returns: false if no profile is stored.
    private static func print(_ jid: JID, _ account: Account, _ shared: SharedOptions) throws -> Bool {
        let reader = Contacts(try shared.directory.read())
        guard let profile = try reader.profile(of: jid, for: account), !profile.isEmpty else { return false }
        if shared.json {
            let event = ProfileChanged(profile)
            Output.line(
                try JSONLine.of(
                    EventRecord(
                        ProfileChanged.name, account: account.jid.description, at: Clock.system.now(), event.fields)))
        } else {
            for line in profile.lines { Output.line(line) }
        }
        return true
    }
}

extension Profile {
    fileprivate var isEmpty: Bool { name == nil && avatar == nil && vcard?.isEmpty ?? true }

    /// The text for people.
    fileprivate var lines: [PrintedText] {
        var lines: [PrintedText] = ["\(jid)"]
        if let name { lines.append("    name: \(name)") }
        if let avatar { lines.append("    picture: \(avatarFile ?? "not fetched: \(avatar)")") }
        for (element, texts) in (vcard?.texts ?? [:]).sorted(by: { $0.key < $1.key }) {
            for text in texts { lines.append("    \(element): \(text)") }
        }
        return lines
    }
}
