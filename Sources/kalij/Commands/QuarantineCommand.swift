import Glibc
import KalijClient
import KalijCoordination
import KalijStore
import KalijText

enum QuarantineCommand: Command {
    static let name = "quarantine"
    static let usage = "[list | show ID | retry [ID] | drop ID | drop --all]"
    static let summary = "list, retry or drop stanzas that could not be processed"
    static let details = """
        Stanzas over a limit, or with three failures in handling, are set aside and do not block the account.

          list         prints these stanzas, newest first; exit status 1 if there are none
          show ID      prints the kept part of a stanza: the first 64 KiB
          retry [ID]   processes a stanza again, or all of them, after an update: each in a transaction of its own, exactly
                       once, at its place in the history. A processed stanza leaves the list. The driving process (`kalij
                       run`) does the work; without one, this process does. Exit status 1 if nothing can be tried: a stanza
                       over 64 KiB was cut, and the answer to a request may come too late; 75 if some stanzas could not be
                       processed
          drop         forgets a stanza, or all of them

        With --json each line is an object: {"id":1,"account":"...","at":"...","reason":"...","name":"message","from":"...",
        "size":120000,"retry":"truncated"}; `retry` is possible, wanted, interrupted, truncated or outdated, and `show` adds
        the kept part as `stanza`.
        """
    static let options: [Arguments.Option] = [.flag("--all", "drop all of them")]

    static func run(_ arguments: Arguments, _ shared: SharedOptions) throws -> ExitStatus {
        try arguments.expect(0...2)
        let id = try arguments.operands.dropFirst().first.map(number)
        switch (arguments.operands.first ?? "list", id) {
        case ("list", nil): return try list(shared)
        case ("show", let id?): return try show(id, shared)
        case ("retry", _): return try retry(id, shared)
        case ("drop", _) where id != nil || arguments.has("--all"): return try drop(id, shared)
        case ("show", nil): throw Failure(.usage, "`show` needs the ID of a stanza")
        case ("drop", nil): throw Failure(.usage, "`drop` needs the ID of a stanza, or --all")
        default: throw Failure(.usage, "`quarantine` takes list, show, retry or drop")
        }
    }

    private static func number(_ word: String) throws -> Int64 {
        guard let number = Int64(word) else { throw Failure(.usage, "\"\(word)\" is not the ID of a stanza") }
        return number
    }

    private static func list(_ shared: SharedOptions) throws -> ExitStatus {
        let stanzas = try Quarantine(try shared.directory.read()).stanzas(limit: 1000).map { QuarantineRecord($0) }
        for record in stanzas { Output.line(shared.json ? try JSONLine.of(record) : record.line) }
        return stanzas.isEmpty ? .nothing : .done
    }

    private static func show(_ id: Int64, _ shared: SharedOptions) throws -> ExitStatus {
        let quarantine = Quarantine(try shared.directory.read())
        guard let stanza = try quarantine.stanza(id), let bytes = try quarantine.bytes(of: id) else { return .nothing }
        let text = String(decoding: bytes, as: UTF8.self)
        guard shared.json else {
            Output.line(PrintedText(xml: text))
            return .done
        }
        var record = QuarantineRecord(stanza)
        record.stanza = text
        Output.line(try JSONLine.of(record))
        return .done
    }

    private static func retry(_ id: Int64?, _ shared: SharedOptions) throws -> ExitStatus {
        let quarantine = Quarantine(try open(shared))
        let count = try shared.directory.ringing { try quarantine.retry(id) }
        guard count > 0 else {
            Output.notice("nothing can be tried again")
            return .nothing
        }
        // The driver releases or discards the stanza shortly afterwards; without a driver, this process does.
        let deadline = Clock.system.monotonic() + 30_000_000_000
        while try quarantine.wanted() > 0, Clock.system.monotonic() < deadline {
            do {
                var printer = EventPrinter(json: shared.json, verbose: shared.verbose, clock: shared.clock)
                try Engine.replayQuarantine(shared.directory) { printer.print($0) }
            } catch FenceError.held { usleep(50_000) }
        }
        let left = try quarantine.stanzas(limit: 1000).filter { $0.id == id ?? $0.id }
        let failed = left.filter { ![.truncated, .outdated].contains($0.retrying) }
        Output.notice("\(max(0, count - failed.count)) of \(count) processed")
        for stanza in left { Output.notice(QuarantineRecord(stanza).line) }
        return failed.isEmpty ? .done : .temporaryFailure
    }

    private static func drop(_ id: Int64?, _ shared: SharedOptions) throws -> ExitStatus {
        let count = try Quarantine(try open(shared)).drop(id)
        Output.notice("\(count) dropped")
        return count > 0 ? .done : .nothing
    }

    private static func open(_ shared: SharedOptions) throws -> Database {
        guard shared.directory.exists else { throw DirectoryError.noAccount(directory: shared.directory.path) }
        return try shared.directory.open(.machine, role: .share, now: Clock.system.now())
    }
}
