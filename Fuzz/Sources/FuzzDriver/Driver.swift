import CFuzzer
import FuzzTargets

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

// libFuzzer calls a plain function that carries nothing along; set once, before it starts its single thread.
nonisolated(unsafe) private var target = FuzzTarget.parser

/// Hands the process to libFuzzer, whose options are the command's arguments. A finding ends the process.
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
