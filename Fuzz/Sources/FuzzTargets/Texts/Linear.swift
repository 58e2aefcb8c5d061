#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Runs `body` on input of so many bytes.
///
/// - Throws: ``Finding`` if `body` takes ten microseconds of processor time for each byte: what is linear takes a thousandth of that,
///   and what takes the square of 100 kB far more.
func linear<Result>(_ name: String, _ bytes: Int, _ body: () throws -> Result) throws -> Result {
    let start = processorTime()
    let result = try body()
    let took = processorTime() - start
    try require(took < 300_000_000 + 10_000 * bytes, "\(name) took \(took / 1_000_000) ms for \(bytes) bytes")
    return result
}

/// In nanoseconds.
private func processorTime() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
}
