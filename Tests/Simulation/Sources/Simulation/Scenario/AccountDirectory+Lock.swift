import Glibc

@testable import KalijClient

extension AccountDirectory {
    func removeLockFile() { unlink(lockPath) }
}
