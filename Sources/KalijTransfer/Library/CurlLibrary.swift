import CCurl
import Glibc
import Synchronization

/// libcurl, loaded when the first transfer begins: a process without transfers has neither its memory nor that of its
/// forty libraries.
///
/// Unchecked, because the functions are addresses that never change, and libcurl's own rules (a handle belongs to a
/// thread) are kept by the types with handles.
final class CurlLibrary: @unchecked Sendable {
    private static let loaded = Mutex<CurlLibrary?>(nil)

    static var isLoaded: Bool { loaded.withLock { $0 != nil } }

    /// The library; loaded by the first call, and never unloaded.
    /// - Throws: ``TransferFailure`` (`libraryMissing`); a later call tries again.
    static func load() throws(TransferFailure) -> CurlLibrary {
        try loaded.withLock { library throws(TransferFailure) in
            if let library { return library }
            let made = try CurlLibrary(name: "libcurl.so.4")
            library = made
            return made
        }
    }

    /// The first version with all options in use, 7.87.0.
    private static let minVersion: UInt32 = 0x07_57_00

    // lives: as long as the process, as the library does
    let table = UnsafeMutablePointer<kalij_curl>.allocate(capacity: 1)

    var functions: kalij_curl { table.pointee }

    init(name: String) throws(TransferFailure) {
        table.initialize(to: kalij_curl())
        guard let library = dlopen(name, RTLD_NOW | RTLD_LOCAL) else {
            throw TransferFailure(.libraryMissing, "\(name) is not installed; apt install libcurl4")
        }
        if let missing = kalij_curl_find(table, library) {
            throw TransferFailure(.libraryMissing, "\(name) has no function \(String(cString: missing))")
        }
        guard kalij_curl_init(table) == CURLE_OK else {
            throw TransferFailure(.libraryMissing, "\(name) does not start")
        }
        guard kalij_curl_version(table) >= Self.minVersion else {
            throw TransferFailure(.libraryMissing, "\(name) is older than 7.87")
        }
    }

    /// libcurl's words for a result.
    func text(of code: CURLcode) -> String {
        functions.easy_strerror(code).map { String(cString: $0) } ?? "error \(code.rawValue)"
    }
}
