// An application imports KalijClient alone.
@_exported import KalijFeatures
@_exported import KalijSteps
