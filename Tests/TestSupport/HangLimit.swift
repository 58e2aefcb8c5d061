/// The seconds after which a wait of a test counts as hung. No test measures a time by this limit: a busy machine takes long, and that is
/// no fault. `patience=40` in `KALIJ_LONG` shortens the wait for a failure.
public let hangLimit = LongForm.choice("patience").flatMap { Double($0) } ?? 400
