import KalijAddress
import KalijClient

enum BlockCommand: Command {
    static let name = "block"
    static let usage = "JID [--report spam|abuse] [--account JID] [--queue-only | --wait]"
    static let summary = "block a person, a client or a server"
    static let details = """
        Your server keeps everything away that JID sends, and JID does not see when you are online: a person, a single client (a full
        address) or a whole server. With --report your server is also told why, if it takes reports; if it does not, JID is
        blocked all the same. Fails if your server cannot block.

        \(IntentRunner.details)
        """
    static let options: [Arguments.Option] =
        [.value("--report", "spam|abuse", "report JID for unwanted messages, or for other abuse")]
        + IntentRunner.options

    static func run(_ arguments: Arguments, _ shared: SharedOptions) throws -> ExitStatus {
        try arguments.expect(1...1)
        let reason = try arguments.value("--report").map { text in
            guard let reason = Block.Reason(rawValue: text) else {
                throw Failure(.usage, "--report takes \"spam\" or \"abuse\", not \"\(text)\"")
            }
            return reason
        }
        return try IntentRunner(arguments, shared).run(Block(try JID(arguments.operands[0]), report: reason))
    }
}

enum UnblockCommand: Command {
    static let name = "unblock"
    static let usage = "JID [--account JID] [--queue-only | --wait]"
    static let summary = "end a block"
    static let details = """
        JID is heard again. `kalij roster --blocked` lists blocked addresses.

        \(IntentRunner.details)
        """
    static let options = IntentRunner.options

    static func run(_ arguments: Arguments, _ shared: SharedOptions) throws -> ExitStatus {
        try arguments.expect(1...1)
        return try IntentRunner(arguments, shared).run(Unblock(try JID(arguments.operands[0])))
    }
}
