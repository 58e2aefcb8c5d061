import Foundation
import KalijLab
import TestSupport
import Testing

extension Kalij {
    /// The present driver's role.
    func driver() throws -> String? {
        let status = try self("--json", "status").objects().first
        return (status?["driver"] as? [String: Any])?["role"] as? String
    }
}

extension World {
    func untilDriven(by role: String) async throws {
        let isDriven = try await until(every: 20) { try kalij.driver() == role }
        #expect(isDriven, "\(role) does not drive")
    }

    /// How often a process has begun to drive.
    func takeovers() async throws -> Int {
        Int(try await sql("SELECT coalesce(max(number), 0) FROM fence").trimmingCharacters(in: .newlines)) ?? 0
    }

    /// Freezes a process outside of transactions: within one, others would kill the process.
    func freezeIdle(_ pid: pid_t) async throws {
        let isFrozen = await until(every: 50) {
            kill(pid, SIGSTOP)
            guard await until({ isStopped(pid) }) else { return false }
            for name in ["kalij.db", "mailbox.db"] {
                let words = ["-batch", kalij.data + "/" + name, "BEGIN IMMEDIATE; ROLLBACK"]
                if (try? await laboratory.run("/usr/bin/sqlite3", words)) != nil { continue }
                kill(pid, SIGCONT)
                return false
            }
            return true
        }
        #expect(isFrozen)
    }

    private func isStopped(_ pid: pid_t) -> Bool {
        let text = (try? systemFile("/proc/\(pid)/status")) ?? ""
        return text.contains("State:\tT")
    }
}

/// A time that the requirements bound. A busy machine takes longer: `Scripts/long role-times` judges on a quiet one.
func measured(_ what: String, _ seconds: Double, atMost limit: Double) {
    print("\(what): \(seconds) s; on a quiet machine at most \(limit)")
    if LongForm.runs("role-times") { #expect(seconds <= limit, "\(what)") }
}
