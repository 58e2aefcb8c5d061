/// Makes a plan that fails smaller: leaves out whatever it can do without.
struct Shrinking {
    let directory: String
    /// The promise that is to be broken still.
    let promise: Violation.Promise

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

    private func fails(_ plan: Plan) -> Bool {
        let violations = (try? Simulation(plan, directory: directory).run()) ?? []
        return violations.contains { $0.promise == promise }
    }
}
