/// The seconds after which a wait of a test counts as hung. No test measures a time by this limit: a busy machine takes long, and that is
/// no fault.
public let hangSeconds = 400.0
