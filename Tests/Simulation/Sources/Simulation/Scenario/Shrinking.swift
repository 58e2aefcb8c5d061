/// Makes a failing plan smaller: leaves out every action that the failure does not need.
struct Shrinking {
    /// Whether a plan fails in the same way as the first plan.
    let fails: (Plan) -> Bool

    init(_ fails: @escaping (Plan) -> Bool) { self.fails = fails }

    /// Runs each plan, and looks for another violation of `promise`.
    init(directory: String, promise: Violation.Promise) {
        fails = { plan in
            let violations = (try? Simulation(plan, directory: directory).run()) ?? []
            return violations.contains { $0.promise == promise }
        }
    }

    func smallest(of plan: Plan) -> Plan {
        var plan = plan
        var size = max(1, plan.actions.count / 2)
        while true {
            let before = plan.actions.count
            var start = 0
            while start < plan.actions.count {
                var smaller = plan
                smaller.actions.removeSubrange(start..<min(start + size, plan.actions.count))
                if fails(smaller) { plan = smaller } else { start += size }
            }
            if size > 1 {
                size /= 2
            } else if plan.actions.count == before {
                return plan
            }
        }
    }
}
