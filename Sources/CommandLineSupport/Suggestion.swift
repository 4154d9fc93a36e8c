/// `; did you mean …?` when one of the names is close to what was typed, and nothing otherwise.
func suggestion(for word: String, among names: [String]) -> String {
  let nearest = names.map { (name: $0, distance: editDistance(word, $0)) }.min { $0.distance < $1.distance }
  guard let nearest, nearest.distance <= max(1, word.count / 3) else { return "" }
  return "; did you mean \(nearest.name)?"
}

/// How many single characters have to be put in, taken out or exchanged to make one word of the other (Levenshtein).
func editDistance(_ source: String, _ target: String) -> Int {
  let target = Array(target)
  var row = Array(0...target.count)
  for (line, character) in source.enumerated() {
    var diagonal = row[0]
    row[0] = line + 1
    for (column, other) in target.enumerated() {
      let exchanged = diagonal + (character == other ? 0 : 1)
      diagonal = row[column + 1]
      row[column + 1] = min(exchanged, diagonal + 1, row[column] + 1)
    }
  }
  return row[target.count]
}
