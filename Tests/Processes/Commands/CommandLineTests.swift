import Foundation
import KalijLab
import Testing

/// The command line without a server: usage, exit codes, queries, databases that cannot be used.
@Suite struct CommandLineTests {
    private let laboratory: Laboratory
    private let kalij: Kalij

    init() throws {
        laboratory = try Laboratory()
        kalij = try Kalij(data: laboratory.path("data"))
    }

    @Test(
        "wrong usage is 64, and the message names the fault",
        arguments: [
            ([], "no command given"), (["fly"], "unknown command \"fly\""),
            (["sned"], "unknown command \"sned\"; did you mean `send`?"), (["hisory"], "did you mean `history`?"),
            (["statuss"], "did you mean `status`?"),
            (["run", "--fast"], "unknown option --fast"),
            (["history", "--limit", "many"], "--limit takes a whole number from 1"), (["send"], "too few arguments"),
            (["history", "--older", "0"], "--older takes a whole number from 1"),
            (["run", "--history-days", "-1"], "--history-days takes a whole number from 0"),
            (["quarantine", "show"], "`show` needs the ID of a stanza"),
            (["quarantine", "drop"], "`drop` needs the ID of a stanza, or --all"),
            (["quarantine", "show", "one"], "\"one\" is not the ID of a stanza"),
            (["quarantine", "eat"], "`quarantine` takes list, show, retry or drop"),
            (["login", "a@b", "--server", "nowhere"], "--server takes HOST:PORT"),
            (["status", "now"], "superfluous argument"),
            (["demo", "--server", "openfire"], "--server takes prosody or ejabberd"),
        ])
    func usage(arguments: [String], message: String) throws {
        let outcome = try run(arguments)
        #expect(outcome.status == 64)
        #expect(outcome.errors.contains(message))
        #expect(outcome.output.isEmpty)
    }

    @Test(
        "every command prints its help to standard output",
        arguments: ["login", "run", "send", "history", "quarantine", "status", "query", "demo"])
    func help(command: String) throws {
        let outcome = try kalij(command, "--help")
        #expect(outcome.status == 0)
        #expect(outcome.output.hasPrefix("usage: kalij [OPTIONS] \(command)"))
        #expect(try kalij("--help").output.contains("  \(command)"))
    }

    @Test(
        "help is found in every spelling",
        arguments: [
            ["help"], ["-h"], ["--help"], ["help", "send"], ["send", "-h"], ["-h", "send"], ["help", "help"],
            ["help", "nonsense"],
        ])
    func helpAnyway(arguments: [String]) throws {
        let outcome = try run(arguments)
        guard arguments != ["help", "nonsense"] else { return #expect(outcome.status == 64) }
        #expect(outcome.status == 0)
        let command =
            arguments.contains("send") ? " send TO" : arguments.count == 2 ? " help [COMMAND]" : " COMMAND ..."
        #expect(outcome.output.hasPrefix("usage: kalij [OPTIONS]\(command)"))
    }

    @Test(
        "too few arguments: the command's help; another mistake: its usage",
        arguments: ["send", "iq", "login", "query"])
    func tooFew(command: String) throws {
        let outcome = try kalij(command)
        #expect(outcome.status == 64)
        #expect(outcome.errors.contains("usage: kalij [OPTIONS] \(command) "))
        #expect(outcome.errors.contains("options:"))
        let option = try kalij(command, "--nothing")
        #expect(option.status == 64)
        #expect(option.errors.contains("usage: kalij [OPTIONS] \(command) "))
        #expect(!option.errors.contains("options:") && option.errors.contains("`kalij help \(command)` says more"))
    }

    @Test("a refused first login leaves no account; a file that is no certificate is bad input")
    func refusedLogin() throws {
        let login = try kalij(
            "login", "a@localhost", "--server", "localhost:1", "--ca", "/etc/hostname",
            environment: ["KALIJ_PASSWORD": "x"])
        #expect(login.status == 65 && login.errors.contains("cannot read CA file /etc/hostname"), "\(login.errors)")
        #expect(try kalij("status").status == 78)
    }

    @Test("the version is printed") func version() throws {
        #expect(try kalij("--version").output.hasPrefix("kalij 0."))
    }

    @Test(
        "without an account: 78, and how to get one",
        arguments: [
            ["run"], ["status"], ["history"], ["history", "--fill"], ["quarantine"], ["quarantine", "retry"],
            ["send", "a@b", "Hi"],
        ])
    func noAccount(arguments: [String]) throws {
        let outcome = try run(arguments)
        #expect(outcome.status == 78)
        #expect(outcome.errors.contains("kalij login JID"))
    }

    @Test(
        "an invalid address is bad input, 65",
        arguments: [["login", "@example.org"], ["send", "", "Hi"], ["login", "example.org"]])
    func addresses(arguments: [String]) throws { #expect(try run(arguments).status == 65) }

    @Test("nothing listens: 69, with the tried address and the reason")
    func unreachable() throws {
        let outcome = try kalij(
            "login", "alice@localhost", "--server", "127.0.0.1:1", environment: ["KALIJ_PASSWORD": "secret"])
        #expect(outcome.status == 69)
        #expect(outcome.errors.contains("127.0.0.1:1: connection refused"))
    }

    @Test("a name that does not exist: 69, and the message says so")
    func noSuchName() async throws {
        let port = try #require(await freeUDPPort())
        let dns = try Running(
            laboratory.launch(
                "/usr/sbin/dnsmasq",
                [
                    "--keep-in-foreground", "--log-facility=-", "--no-resolv", "--no-hosts", "--port=\(port)",
                    "--listen-address=127.0.0.1",
                    "--bind-interfaces", "--address=/example.test/", "--pid-file=\(laboratory.path("dns.pid"))",
                ]))
        defer { _ = dns.end(SIGKILL) }
        #expect(try await until { try dns.errors.contains("started") })
        let outcome = try kalij(
            "login", "alice@nowhere.example.test",
            environment: ["KALIJ_PASSWORD": "secret", "KALIJ_DNS_SERVERS": "127.0.0.1:\(port)"])
        #expect(outcome.status == 69)
        #expect(outcome.errors.contains("nowhere.example.test: no such name"))
    }

    @Test("queries: results, 1 for none, 65 with the place for bad XML and bad queries")
    func queries() throws {
        let message = "<message xmlns='jabber:client' type='chat'><body>Hi &amp; bye</body></message>"
        #expect(try kalij("query", "body#", input: message).output == "Hi & bye\n")
        #expect(try kalij("--json", "query", "/@type", input: message).output == "\"chat\"\n")
        #expect(try kalij("query", "/<type=%@>/body#", "chat", input: message).output == "Hi & bye\n")
        #expect(try kalij("query", "subject#", input: message).status == 1)
        let syntax = try kalij("query", "a//b", input: message)
        #expect(syntax.status == 65 && syntax.errors.contains("column 3"))
        let xml = try kalij("query", "b", input: "<a>\n  <b></a>")
        #expect(xml.status == 65 && xml.errors.contains("line 2"))
        #expect(try kalij("query", "/<type=%@>", input: message).status == 65)
        let stream =
            "<stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams'>\(message)\(message)</stream:stream>"
        #expect(try kalij("query", "--stream", "body#", input: stream).lines == ["Hi & bye", "Hi & bye"])
    }

    @Test("a database of a newer version is refused, 78, untouched")
    func newerDatabase() async throws {
        try FileManager.default.createDirectory(atPath: kalij.data, withIntermediateDirectories: true)
        let path = kalij.data + "/kalij.db"
        try await laboratory.run(
            "/usr/bin/sqlite3", [path, "PRAGMA application_id=1264675945; PRAGMA user_version=99; CREATE TABLE t(a)"])
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        for arguments in [["run"], ["send", "a@b", "Hi"], ["history"], ["status"]] {
            let outcome = try run(arguments)
            #expect(outcome.status == 78)
            #expect(outcome.errors.contains("version 99"))
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    }

    @Test("a corrupt database is refused, 78, untouched")
    func corruptDatabase() throws {
        try FileManager.default.createDirectory(atPath: kalij.data, withIntermediateDirectories: true)
        let path = kalij.data + "/kalij.db"
        let garbage = Data((0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ 13) })
        try garbage.write(to: URL(fileURLWithPath: path))
        for arguments in [["run"], ["send", "a@b", "Hi"], ["history"], ["status"]] {
            let outcome = try run(arguments)
            #expect(outcome.status == 78)
            #expect(outcome.errors.contains("kalij.db"))
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == garbage)
    }

    private func run(_ arguments: [String]) throws -> Kalij.Outcome {
        try kalij.run(arguments, environment: ["KALIJ_PASSWORD": "secret"])
    }

    private func freeUDPPort() async -> UInt16? {
        let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        return withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic -> UInt16? in
                guard bind(descriptor, generic, length) == 0, getsockname(descriptor, generic, &length) == 0 else {
                    return nil
                }
                return UInt16(bigEndian: pointer.pointee.sin_port)
            }
        }
    }
}
