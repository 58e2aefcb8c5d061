import CSQLite
import Synchronization

import Glibc

/// The memory of SQLite: each statement takes two dozen small blocks and gives them back, and Debian's SQLite has no memory of its own for
/// them (lookaside). Some freed blocks are kept for the next statement, which is faster than the C library.
enum StoreMemory {
    /// Kept blocks have multiples of this size, in bytes.
    private static let unit = 64
    /// Blocks of so many units are kept; smaller ones are as fast in the C library.
    private static let sizes = 3...16
    /// How many blocks of a size are kept.
    private static let blocks = 12

    /// A kept block begins with the address of the next one.
    private struct Kept {
        var first: UnsafeMutableRawPointer?
        var count = 0
    }

    // Changed by the thread that has `isTaken` alone.
    private nonisolated(unsafe) static let kept: UnsafeMutablePointer<Kept> = {
        let kept = UnsafeMutablePointer<Kept>.allocate(capacity: sizes.upperBound + 1)
        kept.initialize(repeating: Kept(), count: sizes.upperBound + 1)
        return kept
    }()
    private static let isTaken = Atomic<Bool>(false)

    /// Gives SQLite this memory; before the first connection of the process. Not beside a sanitizer, which watches each block.
    static func install() {
        guard dlsym(nil, "__asan_init") == nil, dlsym(nil, "__tsan_init") == nil else { return }
        _ = kept
        var methods = sqlite3_mem_methods(
            xMalloc: { StoreMemory.take($0) }, xFree: { StoreMemory.keep($0) },
            xRealloc: { realloc($0, Int($1)) }, xSize: { Int32(clamping: malloc_usable_size($0)) },
            xRoundup: { $0 > Int32.max - 64 ? $0 : ($0 + 63) & ~63 }, xInit: { _ in SQLITE_OK }, xShutdown: { _ in },
            pAppData: nil)
        _ = kalij_set_memory(&methods)
    }

    private static func take(_ size: Int32) -> UnsafeMutableRawPointer? {
        guard size > 0 else { return nil }
        let units = (Int(size) + unit - 1) / unit
        guard sizes.contains(units) else { return malloc(Int(size)) }
        // Unless another thread is here.
        if !isTaken.exchange(true, ordering: .acquiring) {
            defer { isTaken.store(false, ordering: .releasing) }
            if let block = kept[units].first {
                kept[units].first = block.load(as: UnsafeMutableRawPointer?.self)
                kept[units].count -= 1
                return block
            }
        }
        return malloc(units * unit)
    }

    private static func keep(_ block: UnsafeMutableRawPointer?) {
        guard let block else { return }
        let units = malloc_usable_size(block) / unit
        guard sizes.contains(units), !isTaken.exchange(true, ordering: .acquiring) else { return free(block) }
        defer { isTaken.store(false, ordering: .releasing) }
        guard kept[units].count < blocks else { return free(block) }
        block.storeBytes(of: kept[units].first, as: UnsafeMutableRawPointer?.self)
        kept[units].first = block
        kept[units].count += 1
    }
}
