import Testing
import VarveTestSupport

@testable import VarveLog

/// The state machine of commit groups, without threads.
@Suite struct `The line of commits` {
  typealias Line = CommitLine<Int>

  private func line(_ needs: [Line.Need]) -> Line {
    var line = Line()
    _ = line.beginAtOnce()
    for (number, need) in needs.enumerated() { _ = line.append(number, need) }
    return line
  }

  @Test func `who comes first leads at once, others wait`() {
    var line = Line()
    let leads = [line.beginAtOnce(), line.beginAtOnce(), line.append(1, .device)]
    #expect(leads == [true, false, false] && line.isLed)
    let next = line.end()
    // Nobody overtakes the one who is called but has not begun yet.
    let overtakes = line.beginAtOnce()
    #expect(next == 1 && line.isLed && !overtakes)
    let group = line.takeGroup()
    let last = line.end()
    #expect(group == [1] && last == nil && !line.isLed)
    let leadsAgain = line.append(2, .process)
    let secondGroup = line.takeGroup()
    #expect(leadsAgain && line.isLed && secondGroup == [2])
  }

  @Test(
    arguments: [
      ([.device, .device, .device], [[0, 1, 2]]),
      ([.process, .process, .device, .process], [[0, 1], [2, 3]]),
      ([.device, .process, .process, .device], [[0, 1, 2, 3]]),
      ([.process, .alone, .process], [[0], [1], [2]]),
      ([.device, .process, .alone, .alone, .device], [[0, 1], [2], [3], [4]]),
      ([.alone], [[0]]),
      ([], []),
    ] as [([Line.Need], [[Int]])])
  func `groups are the run without a sync, else all up to who wants the log alone`(
    needs: [Line.Need], groups: [[Int]]
  ) {
    var line = line(needs)
    var found: [[Int]] = []
    while let next = line.end() {
      let group = line.takeGroup()
      #expect(group.first == next)
      found.append(group)
    }
    #expect(found == groups)
  }

  @Test func `who comes before the leader has taken its group is in it`() {
    var line = line([.device])
    let next = line.end()
    _ = line.append(1, .device)
    let first = line.takeGroup()
    _ = line.append(2, .device)
    let second = line.takeGroup()
    #expect(next == 0 && first == [0, 1] && second == [2])
  }

  // Whatever the order of arrivals: each entry is in one group, in the order of arrival; a group that holds an entry
  // that needs the device began with one; and whoever wants the log alone has it alone.
  @Test(arguments: 0..<50 as Range<UInt64>)
  func `serves everybody once and in order`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var line = Line()
    var needs: [Line.Need] = []
    var served: [Int] = []
    var leads = false
    for _ in 0..<300 {
      if random.next() % 3 > 0 {
        let need = [Line.Need.process, .device, .alone][Int(random.next() % 3)]
        if line.append(needs.count, need) { leads = true }
        needs.append(need)
      } else if leads {
        let group = line.takeGroup()
        #expect(!group.isEmpty)
        if group.contains(where: { needs[$0] == .alone }) { #expect(group.count == 1) }
        if group.contains(where: { needs[$0] == .device }) { #expect(needs[group[0]] == .device) }
        served += group
        leads = line.end() != nil
      }
      #expect(line.isLed == leads)
    }
    #expect(served == Array(0..<served.count))
    #expect(served.count + line.count == needs.count)
  }
}
