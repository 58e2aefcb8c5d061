/// The log for the examples in comments.
final class Log {
    var lines: [String] = []
}
