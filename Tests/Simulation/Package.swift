// swift-tools-version: 6.1
import PackageDescription

// Kalij's engine over a simulated server, network, clock and disk; not part of the package's own build. Built with
// -enable-testing: see the Makefile in the same folder.
let package = Package(
    name: "kalij-simulation",
    dependencies: [.package(name: "kalij", path: "../..")],
    targets: [
        // A disk for SQLite that forgets commits without a sync, and a source of random numbers with a seed.
        .target(name: "CSimulatedMachine"),
        .target(
            name: "Simulation",
            dependencies: [
                "CSimulatedMachine", .product(name: "KalijClient", package: "kalij"),
                .product(name: "KalijXML", package: "kalij"), .product(name: "KalijAddress", package: "kalij"),
                .product(name: "KalijHandlers", package: "kalij"), .product(name: "KalijStream", package: "kalij"),
            ]),
        .executableTarget(name: "simulate", dependencies: ["Simulation"]),
        .testTarget(name: "SimulationTests", dependencies: ["Simulation", "CSimulatedMachine"]),
    ]
)
