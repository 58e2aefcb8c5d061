import Glibc
import KalijAddress
import KalijClient
import KalijText

enum UploadsCommand: Command {
    static let name = "uploads"
    static let usage = "[cancel ID | pause ID | retry ID] [--account JID] [--wait | --queue-only]"
    static let summary = "list files on their way, give them up, pause them or try again"
    static let details = """
        Lists files that were accepted (`kalij send --file`) and whose messages your server does not have yet, with their state:
        mailbox (no process has taken the file over), waiting (with the reason), asking (for a slot, XEP-0363), putting, sealed
        (the last block may have left; the server is asked whether the file is there), done (the message is queued), failed.
        The driving process reports how much has left; without one, nothing is in progress. Exit status 1 if there are none.

        With --json each line is an upload; `bytes` of `size` have left, if a transfer is in progress:
          {"event":"upload","account":"...","at":"...","origin_id":"...","to":"romeo@example.net",
           "file_name":"balcony.jpg","transfer":"putting","bytes":65536,"size":120934,"encrypted":false}

        `cancel ID` gives a file up as long as its message is not queued, and forgets a file that has failed. `pause ID` keeps a file
        that is not sealed from going on. `retry ID` tries a file that waits, is paused or has failed now. ID is the `origin_id` of the message. A file that has failed is kept for a week.

        \(IntentRunner.details)

        examples:
          kalij uploads
          kalij uploads retry 5a1e0c9e-7f4e-4d67-a0a9-0f0a3f1c2d4e
        """
    static let options = IntentRunner.options

    static func run(_ arguments: Arguments, _ shared: SharedOptions) throws -> ExitStatus {
        try arguments.expect(0...2)
        switch arguments.operands.first {
        case nil: return try list(arguments, shared)
        case "cancel"?:
            try arguments.expect(2...2)
            return try IntentRunner(arguments, shared).run(CancelUpload(arguments.operands[1]), waiting: true)
        case "pause"?:
            try arguments.expect(2...2)
            return try IntentRunner(arguments, shared).run(PauseUpload(arguments.operands[1]), waiting: true)
        case "retry"?:
            try arguments.expect(2...2)
            return try IntentRunner(arguments, shared).run(RetryUpload(arguments.operands[1]), waiting: true)
        case let word?: throw Failure(.usage, "\"\(word)\" is none of cancel, pause and retry")
        }
    }

    private static func list(_ arguments: Arguments, _ shared: SharedOptions) throws -> ExitStatus {
        let jid = try arguments.value("--account").map { try JID($0) }
        let account = try AccountTable(try shared.directory.read()).account(jid, in: shared.directory)
        let report = DriverReport(of: shared.directory)
        let uploads = try Attachments(shared.directory, of: account.jid).uploads(report: report)
        for upload in uploads {
            let record = UploadRecord(upload)
            Output.line(shared.json ? try JSONLine.of(record) : record.line)
        }
        return uploads.isEmpty ? .nothing : .done
    }
}

enum DownloadCommand: Command {
    static let name = "download"
    static let usage = "MESSAGE [--to PATH] | --clear [--account JID]"
    static let summary = "fetch the file of a message, or remove all that were fetched"
    static let details = """
        Fetches the file that a message shares, and prints its path. MESSAGE is the `id` of the message in `kalij history --json`, or
        the sender's id. The file appears under its name only when its length, and its hash or its tag, are right; a download that was
        cut goes on where it stopped. With --to the file is copied to PATH, a folder or a new file; an existing file is not replaced.

        The driving process (`kalij run`) fetches; without one, this process does, for as long as bytes come. Exit status 65 if the
        file cannot be fetched, 75 if it is not here yet: fetching goes on with the next driving process. Small files of people
        whom you have written to are fetched unasked (`kalij help settings`).

        With --clear the received files of the account are removed here, but no copies under other names. Their messages stay, and a
        file can be fetched again while its server keeps it. `kalij status` says how many there are.

        With --json a line:
          {"event":"download","account":"...","at":"...","id":17,"file_name":"balcony.jpg",
           "transfer":"stored","size":120934,"path":"..."}

        examples:
          kalij download 17 --to Pictures
          kalij download --clear
        """
    static let options: [Arguments.Option] = [
        .value("--to", "PATH", "copy the file to PATH, a folder or a new file"),
        .flag("--clear", "remove the received files"),
        .value("--account", "JID", "of this account, if several are stored"),
    ]

    static func run(_ arguments: Arguments, _ shared: SharedOptions) throws -> ExitStatus {
        if arguments.has("--clear") {
            try arguments.expect(0...0)
            guard arguments.value("--to") == nil else {
                throw Failure(.usage, "--clear fetches nothing, so there is no --to")
            }
            return try IntentRunner(arguments, shared).run(ClearDownloads(), waiting: true)
        }
        try arguments.expect(1...1)
        let jid = try arguments.value("--account").map { try JID($0) }
        let account = try AccountTable(try shared.directory.read()).account(jid, in: shared.directory)
        return try FileDownloader(shared, account).run(
            MessageReference(arguments.operands[0]), to: arguments.value("--to"))
    }
}
