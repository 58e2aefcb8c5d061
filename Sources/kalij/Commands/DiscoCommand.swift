import KalijAddress
import KalijClient
import KalijStream
import KalijXML

enum DiscoCommand: Command {
    static let name = "disco"
    static let usage = "JID [NODE] [--items] [--wait SECONDS] [--account JID]"
    static let summary = "ask an entity what it is and can do"
    static let details = """
        Asks JID, or its NODE, for its identities, features and forms (service discovery, XEP-0030), with --items also for
        what it has: a server its services, a chat service its rooms. JID is a server, a service, or a client's full address;
        for a user's bare address that user's server answers. A line for each, with tabs between its parts:
          identity  CATEGORY/TYPE  NAME
          feature   FEATURE
          form      FORM_TYPE      FIELD   VALUE ...
          item      JID            NODE    NAME

        Like `kalij iq`: sent by the process that drives (`kalij run`) or, if none does, by this one; if this one is killed,
        whoever drives next stores the answers, and `kalij pending --results` lists them. Exit status 0 if all was
        answered, 1 if something was refused, 75 if there is no answer after SECONDS.

        With --json everything is in one object: {"account":"...","to":"...","node":"...","info":{"outcome":"result",
        "identities":[{"category":"server","type":"im","name":"...","lang":"..."}],"features":["..."],"forms":[...]},
        "items":{"outcome":"result","items":[{"jid":"...","node":"...","name":"..."}]}}; `outcome` is as in `kalij iq --json`,
        with a `reason`, and a form is as in `kalij query --json`. What there is not is left out.

        examples:
          kalij disco example.org --items
          kalij disco romeo@example.net/orchard
        """
    static let options: [Arguments.Option] = [
        .flag("--items", "ask for its items, too"),
        .value("--wait", "SECONDS", "how long an answer may take (default 30)"),
        .value("--account", "JID", "which account asks, if several are stored"),
    ]

    static func run(_ arguments: Arguments, _ shared: SharedOptions) throws -> ExitStatus {
        try arguments.expect(1...2)
        let recipient = try JID(arguments.words[0])
        let node = arguments.words.count == 2 ? arguments.words[1] : nil
        let seconds = try arguments.integer("--wait", in: 1...86_400) ?? 30
        let account = try arguments.value("--account").map { try JID($0) }
        let namespaces = [DiscoveryInfo.namespace] + (arguments.has("--items") ? [DiscoveryItem.namespace] : [])
        let round = namespaces.map { Element.discovery($0, of: recipient, node: node) }
        var told: [Questions.Question] = []
        try Asking([round], of: account, within: seconds, shared) { told.append($0) }.run()
        if shared.json {
            Output.line(try JSONLine.of(DiscoveryRecord(told, node: node)))
        } else {
            told.forEach(show)
        }
        return .of(told.map { ExitStatus(of: $0) })
    }

    private static func show(_ question: Questions.Question) {
        let lines = DiscoveryLines.of(question)
        lines.forEach { Output.line($0) }
        if question.outcome != "result" {
            Output.error("no answer from \(question.recipient): \(ErrorWords.of(question))")
        } else if lines.isEmpty {
            Output.note("\(question.recipient) answers, and has none")
        }
    }
}
