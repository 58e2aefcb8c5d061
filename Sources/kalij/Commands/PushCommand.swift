import KalijAddress
import KalijClient
import KalijText
import KalijWebPush

enum PushCommand: Command {
    static let name = "push"
    static let usage = """
        [status | enable SERVICE NODE [--module M] [--secret-file F] | enable SERVICE --endpoint URL --p256dh KEY --auth SECRET \
        [--module M] | unifiedpush [SERVICE [--vapid KEY] [--module M] [--distributor NAME] [--command COMMAND] | --off] | disable] \
        [--account JID]
        """
    static let summary = "have your server wake this device when something comes"
    static let details = """
        With push your server tells the push service SERVICE when something comes and no connection is there; the service starts
        `kalij wake` on this device. Push is enabled again in each new session: only then rooms are heard, too.

          status                prints whether the server pushes; exit status 1 if it does not
          enable SERVICE NODE   enables push to the node NODE, for most services the device's token. Another node replaces the
                                former. Your server does not check that the service exists, or knows the node
          enable SERVICE --endpoint URL --p256dh KEY --auth SECRET
                                enables push to a Web Push subscription: the endpoint that a push service such as ntfy or a UnifiedPush
                                distributor has given, with the device's public key and secret in base64url
          unifiedpush           prints which UnifiedPush distributor delivers pushes, and which are on the session bus; exit status 1
                                if none delivers
          unifiedpush SERVICE   registers at a distributor on the session bus, and enables push with its endpoint, also when the
                                distributor changes the endpoint. The session bus starts a process for each push, which runs
                                `kalij wake`, or COMMAND. KEY is what the operator of SERVICE names. Exit status 69 without a session
                                bus, a distributor or an endpoint
          unifiedpush --off     ends that registration, and disables push
          disable               ends pushes; `kalij logout` does, too

        \(IntentRunner.details)

        With --json `status` prints an event `push`, with `service`, `node`, `module`, `reason` and `confirmed_at`, when the server has
        confirmed that it pushes in this session.

        example:
          kalij push enable push.example.com 8f2c66d0 --module org.example.chat
        """
    static let options: [Arguments.Option] =
        [
            .value("--module", "M", "the service's module for this application (publish-option `pushModule`)"),
            .value("--endpoint", "URL", "the endpoint of a Web Push subscription, in place of NODE"),
            .value("--p256dh", "KEY", "the public key of the subscription"),
            .value("--auth", "SECRET", "the secret of the subscription"),
            .value("--secret-file", "F", "read the service's secret from the file F; - is standard input"),
        ] + UnifiedPush.options + IntentRunner.options

    static func run(_ arguments: Arguments, _ shared: SharedOptions) throws -> ExitStatus {
        try arguments.expect(0...3)
        let words = arguments.operands
        switch (words.first ?? "status", words.count) {
        case ("status", 0...1): return try status(arguments, shared)
        case ("enable", 3) where arguments.value("--endpoint") == nil: return try enable(words[2], arguments, shared)
        case ("enable", 2) where arguments.value("--endpoint") != nil:
            return try enable(subscription(arguments), arguments, shared)
        case ("enable", _): throw Failure(.usage, "`push enable` needs a service, and a node or --endpoint")
        case ("unifiedpush", 1...2): return try UnifiedPush(arguments, shared).run()
        case ("disable", 1): return try IntentRunner(arguments, shared).run(DisablePush(), waiting: waits(arguments))
        default: throw Failure(.usage, "`push` takes status, enable SERVICE NODE, unifiedpush, or disable")
        }
    }

    private static func waits(_ arguments: Arguments) -> Bool { !arguments.has("--queue-only") }

    /// The node for a Web Push subscription, in the format of `kalij-push`.
    private static func subscription(_ arguments: Arguments) throws -> String {
        guard let endpoint = arguments.value("--endpoint"), let key = arguments.value("--p256dh"),
            let secret = arguments.value("--auth")
        else { throw Failure(.usage, "--endpoint needs --p256dh and --auth beside it") }
        do throws(PushSubscription.Fault) {
            return try PushSubscription("\(endpoint)#p256dh=\(key);auth=\(secret)").text
        } catch {
            throw Failure(.badInput, "\(error)")
        }
    }

    private static func enable(_ node: String, _ arguments: Arguments, _ shared: SharedOptions) throws -> ExitStatus {
        let secret = try arguments.value("--secret-file").map { try Password.firstLine(of: $0) }
        return try IntentRunner(arguments, shared).run(
            EnablePush(
                try JID(arguments.operands[1]), node: node, module: arguments.value("--module"),
                secret: secret), waiting: waits(arguments))
    }

    private static func status(_ arguments: Arguments, _ shared: SharedOptions) throws -> ExitStatus {
        let database = try shared.directory.read()
        let jid = try arguments.value("--account").map { try JID($0) }
        let account = try AccountTable(database).account(jid, in: shared.directory)
        guard let registration = try PushRegistration.load(of: account, from: database) else {
            if !shared.json { Output.notice("push was never enabled") }
            return .nothing
        }
        Output.line(shared.json ? try JSONLine.of(PushRecord(registration, of: account)) : registration.line)
        return registration.state == "enabled" ? .done : .nothing
    }
}

/// The line of `kalij push status --json`.
private struct PushRecord: Encodable {
    let event = "push"
    let account: String
    let at: String
    let push: String
    let service: String?
    let node: String?
    let module: String?
    let reason: String?
    let confirmedAt: String?

    private enum CodingKeys: String, CodingKey {
        case event, account, at, push, service, node, module, reason
        case confirmedAt = "confirmed_at"
    }

    init(_ registration: PushRegistration, of account: Account) {
        self.account = account.jid.description
        at = Stamp.of(Clock.system.now())
        (push, service, node) = (registration.state, registration.service, registration.node)
        (module, reason) = (registration.module, registration.problem)
        confirmedAt = registration.confirmedAt.map(Stamp.of)
    }
}
