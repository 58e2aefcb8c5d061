import KalijLab

/// Debian 13's servers. Where they are not there, the output says what is not tested.
func newerServers(leavingOut what: String) -> DebianRelease? {
    if DebianRelease.newer == nil {
        print("NOT TESTED, because KALIJ_DEBIAN13 names no folder with Debian 13's servers: \(what)")
    }
    return DebianRelease.newer
}
