import Testing
import VarveLog
import VarveTestSupport

/// Goal: exactly the nodes are kept that the rule names, [birth, death) with a registered stamp inside, and no node
/// that is kept changes.
///
/// Method: a model that keeps births and deaths in an array and applies the rule literally, beside the store, which
/// hangs nodes on lists. First every short history, then long random ones.
@Suite struct `Node memory over time` {
  /// The store and its model, with what can happen to them.
  private struct World {
    struct Node {
      var pointer: NodePointer
      var birth: NodeStamp
      var death: NodeStamp?
    }

    let store = NodeStore(unusedByteCountMax: 256)
    var nodes: [Node] = []
    var stamps: [NodeStamp] = []

    mutating func allocate() {
      let pointer = store.allocate(byteCount: 32)
      #expect(!nodes.contains { $0.pointer == pointer }, "a block is not given away while it is kept")
      nodes.append(Node(pointer: pointer, birth: store.currentStamp))
    }

    mutating func retire(_ choice: Int) {
      let live = nodes.indices.filter { nodes[$0].death == nil }
      if live.isEmpty { return }
      let position = live[choice % live.count]
      store.retire(nodes[position].pointer)
      if nodes[position].birth == store.currentStamp {
        nodes.remove(at: position)
      } else {
        nodes[position].death = store.currentStamp
      }
    }

    mutating func register() { stamps.append(store.registerSnapshot()) }

    mutating func unregister(_ choice: Int) {
      if stamps.isEmpty { return }
      store.unregisterSnapshot(stamps.remove(at: choice % stamps.count))
    }

    mutating func reclaim() {
      while store.reclaim(limit: 1) {}
      store.trim(limit: .max)
      nodes.removeAll { node in
        guard let death = node.death else { return false }
        return !stamps.contains { node.birth <= $0 && $0 < death }
      }
      let retired = nodes.count { $0.death != nil }
      #expect(store.statistics.retiredByteCount == retired * 32)
      #expect(store.statistics.liveByteCount == (nodes.count - retired) * 32)
      #expect(store.statistics.unusedByteCount <= 256)
    }

    mutating func apply(_ operation: Int, choice: Int) {
      switch operation {
      case 0: allocate()
      case 1: retire(choice)
      case 2: register()
      case 3: unregister(choice)
      default: reclaim()
      }
    }

    mutating func finish() {
      while !stamps.isEmpty { unregister(0) }
      while nodes.contains(where: { $0.death == nil }) { retire(0) }
      reclaim()
      #expect(nodes.isEmpty)
    }
  }

  @Test func `keeps what the rule says in every short history`() {
    // Two nodes and a snapshot to begin with; then every sequence of five operations, the oldest and the newest node
    // or snapshot being chosen in turn.
    for code in 0..<5 * 5 * 5 * 5 * 5 {
      var world = World()
      world.allocate()
      world.register()
      world.allocate()
      var remainder = code
      for step in 0..<5 {
        world.apply(remainder % 5, choice: step)
        remainder /= 5
      }
      world.finish()
    }
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func `keeps what the rule says in long random histories`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var world = World()
    for _ in 0..<4000 {
      let operation = [0, 0, 0, 1, 1, 2, 3, 4].randomElement(using: &random) ?? 0
      world.apply(operation, choice: Int.random(in: 0..<1000, using: &random))
    }
    world.finish()
  }
}
