import Foundation
import KalijLab
import Testing

/// What the processes of a scenario say and hear inside TLS, written down by a library that is loaded before OpenSSL. A man in the middle
/// would break the binding of the logins that are looked at here.
struct FlightLog {
    let library: String
    let path: String
    private let laboratory: Laboratory

    /// Compiles the library.
    init(in laboratory: Laboratory) async throws {
        self.laboratory = laboratory
        (library, path) = (laboratory.path("flight-log.so"), laboratory.path("flights"))
        let source = laboratory.path("flight-log.c")
        try Self.source.write(toFile: source, atomically: true, encoding: .utf8)
        try await laboratory.run(
            "/usr/bin/cc", ["-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", library, source, "-ldl", "-lssl"])
    }

    /// The environment of a process that is written down, and killed at a commit.
    func environment(_ shim: CommitShim, counter: String, _ kill: CommitKills.Kill?) -> [String: String] {
        var environment = shim.environment(counter: counter, kill: kill?.commit ?? 0, kill?.moment ?? .before)
        environment["LD_PRELOAD"] = preloaded(library, shim.library)
        environment["FLIGHT_LOG"] = path
        return environment
    }

    /// See `Tests/Programs/flights.py`.
    struct Report: Decodable {
        let logins: [String: Int]
        let tokens: Int
        let used: Int
        let counted: Int
        let twice: [[Int?]]
        let unknown: Int
        let passwords: Int
        /// Streams inside TLS: connections, where a login begins no second one.
        let connections: Int

        var byPassword: Int { logins.values.reduce(0, +) - byToken }
        var byToken: Int { logins.reduce(0) { $0 + ($1.key.hasPrefix("HT-") ? $1.value : 0) } }
    }

    func report() async throws -> Report {
        try JSONDecoder().decode(Report.self, from: Data(try await program([path]).utf8))
    }

    /// What the server answers to the last login by a token, said once more on a connection of its own.
    func replay(to server: any XMPPServer) async throws -> String {
        struct Answer: Decodable { let answer: String }
        let text = try await program([path, "replay", "127.0.0.1:\(server.directTLSPort)", "direct"])
        return try JSONDecoder().decode(Answer.self, from: Data(text.utf8)).answer
    }

    private func program(_ arguments: [String]) async throws -> String {
        let program = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Programs/flights.py").path
        return try await laboratory.run("/usr/bin/python3", [program] + arguments)
    }

    private static let source = #"""
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <fcntl.h>
        #include <openssl/ssl.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <sys/uio.h>
        #include <unistd.h>

        static void note(const char *way, SSL *ssl, const void *bytes, size_t count) {
            static int file = -1;
            if (file < 0) {
                const char *path = getenv("FLIGHT_LOG");
                if (!path || (file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)) < 0) return;
            }
            unsigned char data[32] = {0};
            char hex[65] = "", line[200];
            SSL_export_keying_material(ssl, data, sizeof data, "EXPORTER-Channel-Binding", 24, NULL, 0, 0);
            for (int i = 0; i < 32; i++) sprintf(hex + 2 * i, "%02x", data[i]);
            int length = snprintf(line, sizeof line, "%s %d %p %zu %s\n", way, (int)getpid(), (void *)ssl, count, hex);
            struct iovec parts[2] = {{line, (size_t)length}, {(void *)bytes, count}};
            if (writev(file, parts, 2) < 0) abort();
        }

        int SSL_write_ex(SSL *ssl, const void *bytes, size_t count, size_t *written) {
            static int (*next)(SSL *, const void *, size_t, size_t *);
            if (!next) next = dlsym(RTLD_NEXT, "SSL_write_ex");
            int result = next(ssl, bytes, count, written);
            if (result == 1) note("up", ssl, bytes, *written);
            return result;
        }

        int SSL_read_ex(SSL *ssl, void *bytes, size_t count, size_t *read) {
            static int (*next)(SSL *, void *, size_t, size_t *);
            if (!next) next = dlsym(RTLD_NEXT, "SSL_read_ex");
            int result = next(ssl, bytes, count, read);
            if (result == 1) note("down", ssl, bytes, *read);
            return result;
        }
        """#
}
