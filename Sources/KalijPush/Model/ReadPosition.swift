/// How far a node's stream was read at a server.
public struct ReadPosition: Sendable, Equatable {
    public var server: String
    public var node: String
    public var entry: UInt64
}
