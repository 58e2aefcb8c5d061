/// The seconds after which a wait counts as hung. A busy machine takes long, and that is no fault.
///
/// The limit of the tests is longer, so that the error of the laboratory, which is more specific, is reported first.
let hungAfter = 300.0
