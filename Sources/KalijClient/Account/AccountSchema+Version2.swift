import KalijStore

extension Schema {
    /// What version 2 adds, a piece for each feature.
    static let version2 = [String]().joined(separator: "\n")
}
