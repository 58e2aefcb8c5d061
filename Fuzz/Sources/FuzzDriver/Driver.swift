import CFuzzer
import FuzzTargets

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

// libFuzzer calls a plain function without a context; set once, before libFuzzer starts its single thread.
nonisolated(unsafe) private var target = FuzzTarget.parser

/// Hands the process to libFuzzer with the command's arguments as options. A finding ends the process.
public func fuzz(_ wanted: FuzzTarget) -> Never {
    target = wanted
    var count = CommandLine.argc
    var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
    let status = LLVMFuzzerRunDriver(&count, &arguments) { start, count in
        do {
            try target.run(UnsafeRawBufferPointer(start: start, count: count))
        } catch {
            let message = "FINDING in \(target.rawValue): \(error)\n"
            _ = write(2, message, message.utf8.count)
            abort()
        }
        return 0
    }
    exit(status)
}
