import Foundation

/// Puts fetched objects in order by columns of values that are read once, and finds the first few without putting all
/// the others in order.
struct FetchOrder {
  /// The values of one rule, by the position of the object.
  private enum Column {
    /// Numbers and points in time, as keys that compare as they do; `nil` where a value is missing.
    case keys([UInt64?])
    case texts([String?])
    /// Whatever the rule itself compares, in its direction.
    case other((Int, Int) -> Int)
  }

  private var columns: [(values: Column, isReversed: Bool)] = []

  /// Reads the values that the rules compare.
  init<Object: EntityClass>(
    _ sorts: [Sort<Object>], _ entity: BoundEntity, _ objects: ContiguousArray<ManagedObject>,
    as typed: ContiguousArray<Object>
  ) {
    for sort in sorts {
      if let path = sort.storedPath, case .attribute(let slot)? = entity.property(at: path),
        let column = FetchOrder.column(of: slot, entity, objects)
      {
        columns.append((column, sort.isReversed))
      } else {
        // The rule knows its own direction.
        columns.append((.other(sort.comparison(typed)), false))
      }
    }
  }

  private static func column(
    of slot: Int, _ entity: BoundEntity, _ objects: ContiguousArray<ManagedObject>
  ) -> Column? {
    switch entity.description.attributes[slot].type {
    case .string: .texts(objects.map { FetchOrder.text($0.currentValue(at: slot)) })
    case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64, .float, .double, .date:
      .keys(objects.map { FetchOrder.key($0.currentValue(at: slot)) })
    default: nil
    }
  }

  private static func text(_ value: PropertyValue?) -> String? {
    if case .string(let text)? = value { return text }
    return nil
  }

  /// A number that compares as the values do.
  private static func key(_ value: PropertyValue?) -> UInt64? {
    switch value {
    case .integer(let number)?: UInt64(bitPattern: number) ^ 1 << 63
    case .unsigned(let number)?: number
    case .double(let number)?: key(number)
    case .date(let date)?: key(date.timeIntervalSinceReferenceDate)
    default: nil
    }
  }

  private static func key(_ number: Double) -> UInt64 {
    let bits = (number == 0 ? 0 : number).bitPattern
    return bits >> 63 == 0 ? bits | 1 << 63 : ~bits
  }

  // MARK: - Comparing

  /// Whether the object at one position comes before that at another. Positions are in the order of IDs, which decides
  /// where no rule does.
  private func isBefore(_ left: Int, _ right: Int) -> Bool {
    for (values, isReversed) in columns {
      let result: Int
      switch values {
      case .keys(let keys): result = FetchOrder.compare(keys[left], keys[right])
      case .texts(let texts): result = FetchOrder.compare(texts[left], texts[right])
      case .other(let compare): result = compare(left, right)
      }
      if result != 0 { return isReversed ? result > 0 : result < 0 }
    }
    return left < right
  }

  private static func compare<Value: Comparable>(_ left: Value?, _ right: Value?) -> Int {
    switch (left, right) {
    case (nil, nil): 0
    case (nil, _?): -1
    case (_?, nil): 1
    case (let left?, let right?): left < right ? -1 : left == right ? 0 : 1
    }
  }

  // MARK: - Putting in order

  /// The positions of the first objects in order, at most `limit` of them.
  ///
  /// - Complexity: O(n log n) comparisons, or O(n log k) for the first k.
  func positions(count: Int, limit: Int?) -> [Int] {
    guard let limit, limit < count / 4 else {
      let sorted = (0..<count).sorted { isBefore($0, $1) }
      return limit.map { Array(sorted.prefix($0)) } ?? sorted
    }
    if limit == 0 { return [] }
    // The best so far, the last of them on top, so that most others are turned away by one comparison.
    var heap: [Int] = []
    for position in 0..<count {
      if heap.count < limit {
        heap.append(position)
        siftUp(&heap)
      } else if isBefore(position, heap[0]) {
        heap[0] = position
        siftDown(&heap)
      }
    }
    return heap.sorted { isBefore($0, $1) }
  }

  private func siftUp(_ heap: inout [Int]) {
    var child = heap.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      if !isBefore(heap[parent], heap[child]) { return }
      heap.swapAt(parent, child)
      child = parent
    }
  }

  private func siftDown(_ heap: inout [Int]) {
    var parent = 0
    while true {
      var last = parent
      for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && isBefore(heap[last], heap[child]) {
        last = child
      }
      if last == parent { return }
      heap.swapAt(parent, last)
      parent = last
    }
  }
}
