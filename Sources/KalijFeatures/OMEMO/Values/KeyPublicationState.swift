/// The publication of this device's keys in the present session, as a value: takes events, and returns actions.
///
/// In each session the list is read, and the bundle of this device: both may have been changed by other devices, or by an old copy of
/// the database. The bundle is published first, because others fetch the bundles of all devices in the list.
struct KeyPublicationState: Equatable {
    enum Stage: String {
        /// No session, or a server without PEP.
        case off
        /// The list was requested.
        case requestingList = "asking-list"
        /// The bundle under the id of this device was requested.
        case requestingBundle = "asking-bundle"
        case publishingBundle = "publishing-bundle"
        /// The server rejects publish-options: the node is configured first, since a node for one item would lose other devices' items.
        case adaptingBundle = "adapting-bundle"
        /// The node does not exist: the bundle was published without options, and the node is to be configured.
        case creatingBundle = "creating-bundle"
        /// The node has another configuration.
        case configuringBundle = "configuring-bundle"
        case publishingList = "publishing-list"
        case configuringList = "configuring-list"
        /// Others can encrypt for this device.
        case ready
        /// The server does not store the keys.
        case refused
    }

    var stage: Stage
    /// Whether the server's list contains this device.
    var isListed: Bool
    /// Whether the bundle has to be published.
    var isDue: Bool
    /// The number of attempts of the stage's request.
    var attempts: Int

    init(_ stage: Stage = .off, isListed: Bool = false, isDue: Bool = true, attempts: Int = 0) {
        (self.stage, self.isListed, self.isDue, self.attempts) = (stage, isListed, isDue, attempts)
    }

    /// The bundle that the server stores under the id of this device.
    enum Found: Equatable {
        case nothing
        /// The bundle that this device has published last.
        case same
        /// An earlier bundle of this device.
        case old
        /// A bundle of this device with ids that were not assigned here: the database is an old copy.
        case newer
        /// A bundle with another key: to be overwritten, or a reason for another id.
        case foreign(overwrite: Bool)
    }

    enum Event: Equatable {
        /// A session began at a server with PEP.
        case began
        case sessionLost
        case list(hasThisDevice: Bool)
        case bundle(Found)
        /// The request of the stage has succeeded.
        case done
        /// The configuration of the node does not match the publish-options (XEP-0060 section 7.1.5).
        case otherwiseConfigured
        /// The server rejects the publish-options.
        case optionsRefused
        /// The node to be configured does not exist.
        case nodeMissing
        case refused(String)
        case unanswered
        /// The list no longer contains this device.
        case removed
        /// The keys have changed.
        case changed
        /// The user has withdrawn the keys from publication.
        case unpublished
    }

    enum Action: Equatable {
        case requestList
        case requestBundle
        case publishBundle(withOptions: Bool)
        case configureBundle
        case publishList(withOptions: Bool)
        case configureList
        /// Choose another id.
        case newID
        /// The database is an old copy.
        case restored
        /// Others can encrypt for this device.
        case opened
        case failed(String)
    }

    static let maxAttempts = 3

    mutating func handle(_ event: Event) -> [Action] {
        switch event {
        case .began: return request(.requestingList)
        case .sessionLost:
            stage = .off
            return []
        case .list(let hasThisDevice):
            guard stage == .requestingList else { return [] }
            isListed = hasThisDevice
            return request(.requestingBundle)
        case .bundle(let found): return stage == .requestingBundle ? met(found) : []
        case .done: return done()
        case .otherwiseConfigured: return configure()
        case .optionsRefused:
            guard stage == .publishingBundle else { return fail("publish-options are refused") }
            return request(.adaptingBundle)
        case .nodeMissing:
            guard stage == .adaptingBundle else { return fail("a node is missing") }
            return request(.creatingBundle, withOptions: false)
        case .refused(let reason): return fail(reason)
        case .unanswered:
            guard attempts < Self.maxAttempts else { return fail("the server does not answer") }
            return retry(stage)
        case .removed:
            isListed = false
            return stage == .ready ? next() : []
        case .changed:
            isDue = true
            return stage == .ready ? next() : []
        case .unpublished:
            (stage, isListed, isDue) = (.off, false, true)
            return []
        }
    }

    private mutating func met(_ found: Found) -> [Action] {
        switch found {
        case .same: return next()
        case .nothing, .old, .foreign(overwrite: true):
            isDue = true
            return next()
        case .newer:
            isDue = true
            return [.restored] + next()
        case .foreign(overwrite: false):
            (isListed, isDue) = (false, true)
            return [.newID] + request(.requestingBundle)
        }
    }

    private mutating func done() -> [Action] {
        switch stage {
        case .publishingBundle: isDue = false
        case .creatingBundle: return request(.configuringBundle)
        case .publishingList: isListed = true
        case .adaptingBundle, .configuringBundle: return request(.publishingBundle, withOptions: false)
        case .configuringList: return request(.publishingList, withOptions: false)
        case .off, .requestingList, .requestingBundle, .ready, .refused: return []
        }
        return next()
    }

    private mutating func configure() -> [Action] {
        switch stage {
        case .publishingBundle: return request(.configuringBundle)
        case .publishingList: return request(.configuringList)
        default: return fail("a node cannot be configured")
        }
    }

    private mutating func next() -> [Action] {
        if isDue { return request(.publishingBundle) }
        if !isListed { return request(.publishingList) }
        stage = .ready
        return [.opened]
    }

    private mutating func fail(_ reason: String) -> [Action] {
        guard stage != .off, stage != .ready, stage != .refused else { return [] }
        stage = .refused
        return [.failed(reason)]
    }

    private mutating func request(_ stage: Stage, withOptions: Bool = true) -> [Action] {
        attempts = 0
        return retry(stage, withOptions: withOptions)
    }

    private mutating func retry(_ stage: Stage, withOptions: Bool = true) -> [Action] {
        self.stage = stage
        attempts += 1
        switch stage {
        case .requestingList: return [.requestList]
        case .requestingBundle: return [.requestBundle]
        case .publishingBundle: return [.publishBundle(withOptions: withOptions)]
        case .creatingBundle: return [.publishBundle(withOptions: false)]
        case .adaptingBundle, .configuringBundle: return [.configureBundle]
        case .publishingList: return [.publishList(withOptions: withOptions)]
        case .configuringList: return [.configureList]
        case .off, .ready, .refused: return []
        }
    }
}
