import Foundation

// Measures the engine beside its peers and the limits of the machine, and guards its allocations.

let words = CommandLine.arguments.dropFirst()
switch words.first {
case "engine": Comparison(Settings(words.dropFirst())).run()
case "worker": Worker(Settings(words.dropFirst())).run()
case "table": Comparison.printTable(of: words.dropFirst().first, Settings(words.dropFirst(2)))
case "growth": Growth.run(words.dropFirst())
case "growth-work": GrowthStep.run(words.dropFirst())
case "guard": AllocationGuard.run(words.dropFirst())
case "guard-work": RetainCounter.work(words.dropFirst())
default: usage("the first word is engine, growth, table or guard")
}
