// An application imports only KalijClient.
@_exported import KalijFeatures
@_exported import KalijSteps
