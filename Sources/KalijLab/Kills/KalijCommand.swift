/// The program under test, used only through its command line.
public struct KalijCommand: Sendable {
    let laboratory: Laboratory
    let executable: String
    /// The data directory given with `--data`.
    public let data: String

    /// A `kalij` with its own data directory in the laboratory.
    public init(_ executable: String, data: String = "alice", laboratory: Laboratory) {
        self.laboratory = laboratory
        self.executable = executable
        self.data = laboratory.path(data)
    }

    /// Stores an account.
    /// - Parameter port: the port to connect to, if not the server's own.
    /// - Throws: ``LaboratoryError`` with the output of `kalij login` after a failure.
    public func login(
        _ address: String, password: String, server: any XMPPServer, port: Int? = nil
    ) async throws {
        try await laboratory.run(
            executable,
            [
                "--data", data, "login", address, "--server", "127.0.0.1:\(port ?? server.port)", "--ca",
                server.certificateAuthority,
            ],
            environment: ["KALIJ_PASSWORD": password])
    }

    /// Starts `kalij run` in the main role. The standard input stays open; events are written to `run.out`.
    public func run() throws -> Subprocess {
        try start(["--json", "run"], files: "run", writable: true)
    }

    /// The events of all processes of ``run()`` from now on.
    var output: LogTail {
        let path = laboratory.path("run.out")
        return LogTail(path: path, from: LogTail.end(of: path))
    }

    /// Starts `kalij send`.
    public func send(_ text: String, to recipient: String) throws -> Subprocess {
        try start(["send", recipient, text], files: "send", writable: false)
    }

    /// The end of the standard error of all processes of a kind (`run`, `send`).
    public func errors(of files: String) -> String {
        String(readText(of: laboratory.path(files + ".err")).suffix(1000))
    }

    private func start(_ arguments: [String], files: String, writable: Bool) throws -> Subprocess {
        var launch = laboratory.launch(executable, ["--data", data] + arguments)
        launch.directory = nil  // no program in between: the times of kills count from the first instruction
        launch.output = .file(laboratory.path(files + ".out"))
        launch.errors = .file(laboratory.path(files + ".err"))
        return try Subprocess(launch, writable: writable)
    }
}
