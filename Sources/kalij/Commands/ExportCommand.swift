import KalijAddress
import KalijClient
import KalijText

enum ExportCommand: Command {
    static let name = "export"
    static let usage = "[FILE] [--account JID]"
    static let summary = "write what is stored of an account as lines of JSON"
    static let details = """
        Writes the account's profile, contacts, blocked addresses, rooms and messages as lines of JSON, to FILE or to standard output, for
        other programs, or to keep. Neither the password nor keys for encryption are among them; what was encrypted is there as text. Of
        files there are the paths: the received ones are in `files/in` of the directory of accounts.

        An existing FILE is not replaced, and a new one can be read by its owner alone. While it is written, and after a kill, its name ends
        with `.part`. A running process is not disturbed; messages that come meanwhile may be there or not.

        The first line is {"event":"export","format":1,...}, the last one {"event":"end","lines":N,...}: without it the file is not whole.
        The lines between are as in the lists of `kalij --json`: `profile`, `contact`, `blocked` with an `address`, `room`, and `message` in
        the order of their ids.

        With --json and a FILE a line:
          {"event":"exported","account":"...","at":"...","messages":1234,"path":"..."}

        examples:
          kalij export juliet.jsonl
          kalij export | grep '"event":"contact"'
        """
    static let options: [Arguments.Option] = [
        .value("--account", "JID", "of this account, if several are stored")
    ]

    static func run(_ arguments: Arguments, _ shared: SharedOptions) throws -> ExitStatus {
        try arguments.expect(0...1)
        let jid = try arguments.value("--account").map { try JID($0) }
        let account = try AccountTable(try shared.directory.read()).account(jid, in: shared.directory)
        let export = AccountExport(shared.directory, of: account.jid)
        guard let path = arguments.operands.first else {
            try export.read { try Output.results(PrintedText(asIs: $0) + "\n") }
            return .done
        }
        var progress = ExportProgress()
        let messages: Int
        do {
            messages = try export.save(to: path) { progress.show($0) }
        } catch let error as FileError {
            progress.end()
            throw Failure(Failure(error).status, "\(path): \(error)")
        }
        progress.end()
        guard shared.json else {
            Output.notice("\(messages) messages of \(account.jid) written to \(path)")
            return .done
        }
        Output.line(
            try JSONLine.of(
                ExportedRecord(
                    account: account.jid.description, at: Stamp.of(Clock.system.now()), messages: messages, path: path))
        )
        return .done
    }
}

/// The line of `kalij export FILE --json`.
private struct ExportedRecord: Encodable {
    var event = "exported"
    let account: String
    let at: String
    let messages: Int
    let path: String
}

/// The part that is written, on a terminal.
private struct ExportProgress {
    private var last = 0

    mutating func show(_ part: Double) {
        let percent = Int(part * 100)  // fits: a part is at most 1
        guard percent != last else { return }
        last = percent
        Output.progress("\(percent) %")
    }

    func end() { if last > 0 { Output.progress("") } }
}
