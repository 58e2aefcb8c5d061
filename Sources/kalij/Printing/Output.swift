import KalijText

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Standard output for results, standard error for everything else. Nothing is printed but by this.
enum Output {
    /// Writes a line of results; false if nobody reads any more.
    @discardableResult
    static func line(_ text: PrintedText) -> Bool { write(text.description + "\n", to: STDOUT_FILENO) }

    /// Writes results; they are out when this returns.
    ///
    /// - Throws: `OutputClosed` if nobody reads any more, `Failure` if they cannot be written for another reason.
    static func results(_ text: PrintedText) throws {
        guard !write(text.description, to: STDOUT_FILENO) else { return }
        let error = errno
        if error == EPIPE { throw OutputClosed() }
        throw Failure(.tryAgain, "standard output: \(String(cString: strerror(error)))")
    }

    static func error(_ text: PrintedText) { note("kalij: \(text)") }
    static func note(_ text: PrintedText) { write(text.description + "\n", to: STDERR_FILENO) }

    @discardableResult
    private static func write(_ text: String, to descriptor: Int32) -> Bool {
        var text = text
        return text.withUTF8 { write(UnsafeRawBufferPointer($0), to: descriptor) }
    }

    private static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            // The slice lies within the lent buffer, so its address is valid for its count.
            let count = unistdWrite(descriptor, UnsafeRawBufferPointer(rebasing: rest))
            if count < 0 {
                if errno == EINTR { continue }
                guard errno == EAGAIN, wait(for: descriptor) else { return false }
                continue
            }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Waits until a pipe that does not block takes more.
    private static func wait(for descriptor: Int32) -> Bool {
        var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return poll(&request, 1, -1) > 0 || errno == EINTR
    }

    private static func unistdWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        #if canImport(Glibc)
            Glibc.write(descriptor, bytes.baseAddress, bytes.count)
        #else
            Darwin.write(descriptor, bytes.baseAddress, bytes.count)
        #endif
    }
}

/// Nobody reads standard output any more.
struct OutputClosed: Error {}
