/// What happens at the connections to ``NodesSettings/redis``, by number; and what is known of the nodes.
public enum ClusterEvent: Sendable {
    case connected(Int)
    case disconnected(Int)
    case reply(RESP, Int)
    /// There is time for an entry.
    case turn
    /// The nodes of the configuration are these.
    case configured(NodesSettings)
    /// What an earlier process knew: how far it had read, and whose records count no more.
    case restored([ReadPosition], excluded: [String])
}
