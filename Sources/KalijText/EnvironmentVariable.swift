import Glibc

/// The variables of the process's environment.
public enum EnvironmentVariable {
    /// The value of a variable; nil if it is not set.
    public static func value(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}
