// swift-tools-version: 6.1
import PackageDescription

// Measurements against other implementations; not part of the package's own build.
let package = Package(
    name: "kalij-benchmarks",
    dependencies: [.package(name: "kalij", path: "..")],
    targets: [
        .systemLibrary(name: "CYardstickXML2", pkgConfig: "libxml-2.0"),
        .executableTarget(
            name: "parse",
            dependencies: [.product(name: "KalijXML", package: "kalij"), "CYardstickXML2"]),
        .executableTarget(
            name: "query",
            dependencies: [.product(name: "KalijXML", package: "kalij"), "CYardstickXML2"]),
        // Measures steps from within: built with -enable-testing, see the Makefile.
        .executableTarget(
            name: "handlers",
            dependencies: ["KalijClient", "KalijHandlers"].map { .product(name: $0, package: "kalij") }),
        // What encryption adds to a step; built with -enable-testing, too.
        .executableTarget(
            name: "sealed",
            dependencies: ["KalijAddress", "KalijClient"].map { .product(name: $0, package: "kalij") }),
        // Makes directories with many messages, for reading commands.
        .executableTarget(
            name: "growth",
            dependencies: ["KalijAddress", "KalijClient", "KalijStore"].map { .product(name: $0, package: "kalij") }),
        // Receives and accepts; a library counts the syncs from outside.
        .executableTarget(
            name: "barrier",
            dependencies: ["KalijAddress", "KalijClient"].map { .product(name: $0, package: "kalij") }),
        .executableTarget(
            name: "push",
            dependencies: [
                .product(name: "KalijPush", package: "kalij"), .product(name: "KalijPushLab", package: "kalij"),
                .product(name: "KalijXML", package: "kalij"),
            ]),
        // A file up or down, to compare with curl.
        .executableTarget(
            name: "files",
            dependencies: [.product(name: "KalijTransfer", package: "kalij")]),
        .executableTarget(
            name: "hostile",
            dependencies: [.product(name: "KalijXML", package: "kalij"), "CYardstickXML2"]),
        // Counts calls of malloc.
        .target(name: "CAllocations"),
        .executableTarget(
            name: "allocations",
            dependencies: [.product(name: "KalijXML", package: "kalij"), "CAllocations", "CYardstickXML2"]),
    ]
)
