/// The version of the commands.
public let kalijVersion = "0.1.0"
