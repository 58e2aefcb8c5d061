/// The version of the commands. `Packaging/version` compares it with the changelog's heading.
public let kalijVersion = "0.2.0"
/// The day of the version's release.
public let kalijReleaseDay = "2026-11-26"
