/// What the examples in comments write to.
final class Log {
    var lines: [String] = []
}
