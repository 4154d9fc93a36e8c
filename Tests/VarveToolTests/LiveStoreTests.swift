import Foundation
import Testing
import VarveLog
import VarveTestSupport

/// The tool, in processes of its own, on a store that this process writes to and compacts meanwhile.
@Suite struct `Beside a program at work, the tool` {
  private static let accountCount = 40
  /// Commits that the writer makes at most, so that a slow machine ends too.
  private static let commitCountMax = 20_000

  private static func id(_ account: Int) -> RecordID { RecordID(entity: 1, serial: UInt64(account)) }

  private static func bytes(_ value: Int) -> [UInt8] { Array("\(value)".utf8) }

  private static var options: StoreOptions {
    var options = StoreOptions()
    options.segmentSizeLimit = 1 << 14
    options.growthStep = 4096
    options.lockWaitMilliseconds = 2000
    return options
  }

  /// Moves money between accounts, whose sum stays zero, until it is told to stop. One record counts the commits.
  private static func write(to store: LogStore, until isStopped: Guarded<Bool>) async throws {
    var balances = [Int](repeating: 0, count: accountCount)
    var generator = SplitMix64(seed: 3)
    var number = 1
    while !isStopped.withLock({ $0 }), number < commitCountMax {
      number += 1
      let from = Int.random(in: 0..<accountCount, using: &generator)
      let to = (from + Int.random(in: 1..<accountCount, using: &generator)) % accountCount
      let amount = Int.random(in: 1...1000, using: &generator)
      balances[from] -= amount
      balances[to] += amount
      let values = (balances[from], balances[to], number)
      try await store.commit(durability: number % 8 == 0 ? .disk : .system) { batch in
        try batch.put(id(from), bytes(values.0))
        try batch.put(id(to), bytes(values.1))
        try batch.put(id(accountCount), bytes(values.2))
      }
      if number % 300 == 0 { try await store.compact() }
    }
  }

  /// The balances and the number of commits in a dump, by serial.
  private static func values(_ dump: String) throws -> [Int: Int] {
    var values: [Int: Int] = [:]
    for line in dump.split(separator: "\n") {
      let match = try #require(line.firstMatch(of: /"id":"1\/([0-9]+)".*"\$data":"([^"]*)"/), "\(line)")
      let text = try #require(Data(base64Encoded: String(match.2)).map { String(decoding: $0, as: UTF8.self) })
      let value: Int = try #require(Int(text))
      values[try #require(Int(match.1))] = value
    }
    return values
  }

  /// Expects a dump to be as of one commit, and returns which.
  private static func expectOneCommit(_ dump: ChildProcess) throws -> Int {
    #expect(dump.ending == .exit(0), "\(dump.errorOutput)")
    let values = try values(dump.output)
    #expect(values.count == accountCount + 1)
    #expect((0..<accountCount).reduce(0) { $0 + (values[$1] ?? 0) } == 0)
    return values[accountCount] ?? 0
  }

  @Test func `shows, verifies and backs up the store as of one commit`() async throws {
    let folder = try ToolFolder()
    let store = try LogStore.open(at: folder.store, options: Self.options)
    try await store.commit { batch in
      for account in 0..<Self.accountCount { try batch.put(Self.id(account), Self.bytes(0)) }
      try batch.put(Self.id(Self.accountCount), Self.bytes(1))
    }
    let isStopped = Guarded(false)
    let writer = Task.detached { try await Self.write(to: store, until: isStopped) }
    var last = 1
    for round in 0..<8 {
      let acknowledged = Int(store.snapshot().sequence.rawValue)
      let dumped = try Self.expectOneCommit(try folder.varve("dump", folder.store))
      #expect(dumped >= max(last, acknowledged))
      let info = try folder.varve("info", "--json", folder.store)
      #expect(info.ending == .exit(0), "\(info.errorOutput)")
      let fields = try #require(try JSONSerialization.jsonObject(with: Data(info.output.utf8)) as? [String: Any])
      let shown = try #require(fields["writer"] as? [String: Any])
      #expect(shown["pid"] as? Int == Int(ProcessInfo.processInfo.processIdentifier))
      #expect(fields["objects"] as? Int == Self.accountCount + 1)
      #expect(fields["lastSequence"] as? Int ?? 0 >= dumped)
      #expect(shown["lastSequence"] as? Int ?? 0 >= dumped)
      let verify = try folder.varve("verify", folder.store)
      #expect(verify.all == ["exit(0)", "OK\n", ""])
      let copy = folder.path("copy-\(round).varve")
      let backup = try folder.varve("backup", folder.store, copy)
      #expect(backup.ending == .exit(0), "\(backup.errorOutput)")
      let backedUp = try Self.expectOneCommit(try folder.varve("dump", copy))
      #expect(backup.output.hasPrefix("last commit  \(backedUp)\n"))
      #expect(backedUp >= dumped)
      #expect(try folder.varve("verify", copy).all == ["exit(0)", "OK\n", ""])
      last = backedUp
    }
    isStopped.withLock { $0 = true }
    try await writer.value
    #expect(try Self.expectOneCommit(try folder.varve("dump", folder.store)) == Int(store.snapshot().sequence.rawValue))
    try store.close()
    #expect(last > 10)
  }
}
