import Glibc
import KalijCoordination
import TestSupport
import Testing

/// "A data directory of mode 0777 or of another owner is not taken without a word."
struct OwnerOnlyTests {
    @Test(
        "a directory where everybody may write is refused; the user's own is not",
        arguments: [0o700, 0o755, 0o775] as [mode_t])
    func modes(_ mode: mode_t) throws {
        let scratch = try ScratchDirectory()
        #expect(chmod(scratch.path, mode) == 0)
        try OwnerOnly().checkDirectory(scratch.path)
        #expect(chmod(scratch.path, mode | 0o022) == 0)
        let failure = #expect(throws: SystemFailure.self) { try OwnerOnly().checkDirectory(scratch.path) }
        #expect(failure?.reason.contains("everybody can write there") ?? false)
        #expect(chmod(scratch.path, mode | S_ISVTX | 0o022) == 0)
        #expect(throws: SystemFailure.self) { try OwnerOnly().checkDirectory(scratch.path) }
    }

    @Test(
        "another user's directory is refused", .enabled(if: geteuid() == 0, "only the superuser gives a directory away")
    )
    func owner() throws {
        let scratch = try ScratchDirectory()
        #expect(chown(scratch.path, 65534, 65534) == 0)
        let failure = #expect(throws: SystemFailure.self) { try OwnerOnly().checkDirectory(scratch.path) }
        #expect(failure?.reason.contains("belongs to another user") ?? false)
    }
}
