/// An event of the connections to ``NodesSettings/redis``, which are numbered, or of the nodes' configuration and state.
public enum ClusterEvent: Sendable {
    case connected(Int)
    case disconnected(Int)
    case reply(RESP, Int)
    /// There is time for an entry.
    case turn
    /// The nodes of the configuration are these.
    case configured(NodesSettings)
    /// The state of an earlier process: how far it had read, and whose records no longer count.
    case restored([ReadPosition], excluded: [String])
}
