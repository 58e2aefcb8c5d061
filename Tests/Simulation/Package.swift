// swift-tools-version: 6.1
import PackageDescription

// Kalij's engine over a simulated server, network, clock and disk; not part of the package's own build. Built with
// -enable-testing, see the Makefile beside this file.
let package = Package(
    name: "kalij-simulation",
    dependencies: [.package(name: "kalij", path: "../..")],
    targets: [
        // A disk for SQLite that forgets what was not synced, and a source of randomness that can be seeded.
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
