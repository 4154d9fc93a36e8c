enum AllocationGuard { static func run(_ w: some Sequence<String>) {} }
