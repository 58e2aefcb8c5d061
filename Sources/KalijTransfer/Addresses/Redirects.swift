import KalijText

/// Follows the redirects of a GET or HEAD, three at most (RFC 9110, 15.4). The caller starts the next transfer, whose address is
/// checked like the first.
///
///     var redirects = Redirects()
///     if let next = try redirects.next(after: request, head) { transport.start(next, body: nil, handler) }
public struct Redirects: Sendable {
    public static let limit = 3
    private static let statuses: Set<Int> = [301, 302, 303, 307, 308]

    public private(set) var count = 0

    public init() {}

    /// - Returns: the next request; nil if the response is no redirect, or the response to a PUT, which is never redirected. The
    ///   fields of the request are sent only to the same host.
    /// - Throws: ``TransferFailure`` (`redirect`) for the fourth redirect, without a Location, or not to `https`.
    public mutating func next(
        after request: TransferRequest, _ head: ResponseHead
    ) throws(TransferFailure) -> TransferRequest? {
        guard request.method != .put, Self.statuses.contains(head.status) else { return nil }
        guard count < Self.limit else { throw TransferFailure(.redirect, "more than \(Self.limit) redirects") }
        guard let location = head.location else { throw TransferFailure(.redirect, "a redirect to nowhere") }
        let from = try TransferURL(request.url)
        let to: TransferURL
        do throws(TransferFailure) {
            to = try TransferURL(location, relativeTo: from)
        } catch {
            throw TransferFailure(.redirect, "a redirect that is not followed: \(error.description)")
        }
        count += 1
        var next = request
        next.url = to.text
        if to.host.exact != from.host.exact { next.fields = [] }
        return next
    }
}
