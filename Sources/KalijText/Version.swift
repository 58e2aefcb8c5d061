/// The version of the commands.
public let kalijVersion = "0.2.0"
/// The day of the version's release. `Packaging/version` compares both with the changelog.
public let kalijReleaseDay = "2026-11-26"
