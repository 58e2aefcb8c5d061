import KalijAddress
import KalijClient
import KalijStream
import KalijXML

enum DiscoCommand: Command {
    static let name = "disco"
    static let usage = "JID [NODE] [--items] [--wait SECONDS] [--account JID]"
    static let summary = "ask an entity for its identities and features"
    static let details = """
        Asks JID, or its NODE, for identities, features and forms (service discovery, XEP-0030), with --items also for its
        items: a server's services, a chat service's rooms. JID is a server, a service, or a client's full address; for a
        user's bare address the user's server answers. Prints a line for each, with tabs between the parts:
          identity  CATEGORY/TYPE  NAME
          feature   FEATURE
          form      FORM_TYPE      FIELD   VALUE ...
          item      JID            NODE    NAME

        As with `kalij iq`, the driving process (`kalij run`) sends the questions; without one, this process does. If this
        process is killed, the next driving process stores the answers, and `kalij pending --results` lists them. Exit status
        0 if all questions were answered, 1 if one was refused, 75 if an answer is missing after SECONDS.

        With --json everything is in one object:
          {"account":"...","to":"...","node":"...","info":{"outcome":"result","identities":[
           {"category":"server","type":"im","name":"...","lang":"..."}],"features":["..."],"forms":[...]},
           "items":{"outcome":"result","items":[{"jid":"...","node":"...","name":"..."}]}}
        `outcome` is as in `kalij iq --json`,
        with a `reason`, and a form is as in `kalij query --json`. Missing parts are left out.

        examples:
          kalij disco example.org --items
          kalij disco romeo@example.net/orchard
        """
    static let options: [Arguments.Option] = [
        .flag("--items", "ask for the items, too"),
        .value("--wait", "SECONDS", "wait so long for an answer (default 30)"),
        .value("--account", "JID", "ask from this account, if several are stored"),
    ]

    static func run(_ arguments: Arguments, _ shared: SharedOptions) throws -> ExitStatus {
        try arguments.expect(1...2)
        let recipient = try JID(arguments.operands[0])
        let node = arguments.operands.count == 2 ? arguments.operands[1] : nil
        let seconds = try arguments.integer("--wait", in: 1...86_400) ?? 30
        let account = try arguments.value("--account").map { try JID($0) }
        let namespaces = [DiscoveryInfo.namespace] + (arguments.has("--items") ? [DiscoveryItem.namespace] : [])
        let round = namespaces.map { Element.discovery($0, of: recipient, node: node) }
        var told: [AdHocRequests.Question] = []
        try RequestRunner([round], of: account, within: seconds, shared) { told.append($0) }.run()
        if shared.json {
            Output.line(try JSONLine.of(DiscoveryRecord(told, node: node)))
        } else {
            told.forEach(show)
        }
        return .of(told.map { ExitStatus(of: $0) })
    }

    private static func show(_ question: AdHocRequests.Question) {
        let lines = DiscoveryLines.of(question)
        lines.forEach { Output.line($0) }
        if question.outcome != "result" {
            Output.error("no answer from \(question.recipient): \(ErrorWords.of(question))")
        } else if lines.isEmpty {
            Output.notice("\(question.recipient) answers, and has none")
        }
    }
}
