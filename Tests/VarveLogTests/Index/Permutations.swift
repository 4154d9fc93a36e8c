/// Every order of the numbers 0..<`count`.
func permutations(_ count: Int) -> [[Int]] {
  if count == 0 { return [[]] }
  return permutations(count - 1).flatMap { shorter in
    (0...shorter.count).map { position in
      var longer = shorter
      longer.insert(count - 1, at: position)
      return longer
    }
  }
}
