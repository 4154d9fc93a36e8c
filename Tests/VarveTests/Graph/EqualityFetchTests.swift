import Foundation
import Testing
import VarveLog

@testable import Varve

/// An attribute of one type, with and without an index, and how it is asked for.
private struct Question<Value: AttributeValue & Hashable & Sendable> {
  typealias Path = any ReferenceWritableKeyPath<Specimen, Value?> & Sendable

  let values: [Value]
  let paths: [Path]
  let predicates: [@Sendable (Value?) -> Predicate<Specimen>]

  init(
    _ values: [Value], _ plain: Path, _ plainPredicate: @escaping @Sendable (Value?) -> Predicate<Specimen>,
    _ indexed: Path, _ indexedPredicate: @escaping @Sendable (Value?) -> Predicate<Specimen>
  ) {
    self.values = values
    paths = [plain, indexed]
    predicates = [plainPredicate, indexedPredicate]
  }

  /// Saves an object of each value and asks for each, with changes pending and without.
  func check() throws {
    let container = try Tricky.open()
    let context = container.newBackgroundContext()
    var specimens: [Specimen] = []
    for value in [nil] + values.map(Optional.some) {
      let specimen = Specimen(in: context)
      for path in paths { specimen[keyPath: path] = value }
      specimens.append(specimen)
    }
    try ask(context, "inserted")
    try context.save()
    try ask(context, "saved")
    try ask(container.newBackgroundContext(), "read anew")
    // Each has the next one's value.
    for (specimen, value) in zip(specimens, values.map(Optional.some) + [nil]) {
      for path in paths { specimen[keyPath: path] = value }
    }
    try ask(context, "edited")
    try context.delete(specimens[1])
    try ask(context, "one is deleted")
    try context.save()
    try ask(context, "saved again")
  }

  private func ask(_ context: ManagedObjectContext, _ when: Comment) throws {
    let all = try context.fetch(Specimen.fetchRequest())
    for value in [nil] + values.map(Optional.some) {
      for (path, predicate) in zip(paths, predicates) {
        let expected = all.filter { equals($0[keyPath: path], value) }
        let comment: Comment = "\(when): \(path) == \(value.propertyValue.jsonText)"
        let requests = [
          FetchRequest<Specimen>(where: path == value), FetchRequest<Specimen>(where: predicate(value)),
          FetchRequest<Specimen>(where: path == value && .all),
          FetchRequest<Specimen>(where: Condition(predicate(value)) && .all), FetchRequest(where: !(path != value)),
          FetchRequest<Specimen>(where: .isIn(path, [value])),
        ]
        for request in requests {
          #expect(try context.fetch(request) == expected, comment)
          #expect(try context.count(request) == expected.count, comment)
        }
      }
    }
  }

  /// What a condition means by "equal": what Swift means, of the values as they are stored.
  private func equals(_ left: Value?, _ right: Value?) -> Bool {
    if let left = left as? URL, let right = right as? URL { return left.absoluteString == right.absoluteString }
    return left == right
  }
}

/// A fetch by `==`, one by `#Predicate`, and the counts of both agree, with an index and without one.
@Suite struct `Fetches by a value` {
  @Test func `agree for truth values`() throws {
    try Question(
      Tricky.bools, \.bool, { value in #Predicate { $0.bool == value } }, \.indexedBool,
      { value in #Predicate { $0.indexedBool == value } }
    ).check()
  }

  @Test func `agree for integers`() throws {
    try Question(
      Tricky.integers, \.integer, { value in #Predicate { $0.integer == value } }, \.indexedInteger,
      { value in #Predicate { $0.indexedInteger == value } }
    ).check()
    try Question(
      Tricky.bytes, \.byte, { value in #Predicate { $0.byte == value } }, \.indexedByte,
      { value in #Predicate { $0.indexedByte == value } }
    ).check()
  }

  @Test func `agree for numbers with a fraction`() throws {
    try Question(
      Tricky.floats, \.float, { value in #Predicate { $0.float == value } }, \.indexedFloat,
      { value in #Predicate { $0.indexedFloat == value } }
    ).check()
    try Question(
      Tricky.doubles, \.double, { value in #Predicate { $0.double == value } }, \.indexedDouble,
      { value in #Predicate { $0.indexedDouble == value } }
    ).check()
    try Question(
      Tricky.decimals, \.decimal, { value in #Predicate { $0.decimal == value } }, \.indexedDecimal,
      { value in #Predicate { $0.indexedDecimal == value } }
    ).check()
  }

  @Test func `agree for texts`() throws {
    try Question(
      Tricky.texts, \.text, { value in #Predicate { $0.text == value } }, \.indexedText,
      { value in #Predicate { $0.indexedText == value } }
    ).check()
  }

  @Test func `agree for dates`() throws {
    try Question(
      Tricky.dates, \.date, { value in #Predicate { $0.date == value } }, \.indexedDate,
      { value in #Predicate { $0.indexedDate == value } }
    ).check()
  }

  @Test func `agree for bytes and universally unique identifiers`() throws {
    try Question(
      Tricky.uuids, \.uuid, { value in #Predicate { $0.uuid == value } }, \.indexedUUID,
      { value in #Predicate { $0.indexedUUID == value } }
    ).check()
    try Question(
      Tricky.datas, \.data, { value in #Predicate { $0.data == value } }, \.indexedData,
      { value in #Predicate { $0.indexedData == value } }
    ).check()
  }

  @Test func `agree for URLs, with a base and without`() throws {
    try Question(
      Tricky.urls, \.url, { value in #Predicate { $0.url == value } }, \.indexedURL,
      { value in #Predicate { $0.indexedURL == value } }
    ).check()
  }

  @Test func `agree for URLs within larger predicates`() throws {
    let context = try Tricky.open().newBackgroundContext()
    let url: URL? = URL(filePath: "notes.txt")
    let specimens = (0..<3).map { _ in Specimen(in: context) }
    (specimens[0].url, specimens[0].indexedURL, specimens[0].label) = (url, url, "a")
    (specimens[1].url, specimens[1].indexedURL) = (url, url)
    func fetch(_ predicate: Predicate<Specimen>) throws -> [Specimen] {
      let found = try context.fetch(FetchRequest<Specimen>(where: predicate))
      #expect(try context.count(FetchRequest<Specimen>(where: predicate)) == found.count)
      return found
    }
    for isSaved in [false, true] {
      if isSaved { try context.save() }
      #expect(try fetch(#Predicate { $0.indexedURL == url && $0.label == "a" }) == [specimens[0]])
      #expect(try fetch(#Predicate { $0.label == "" && url == $0.url }) == [specimens[1]])
      #expect(try fetch(#Predicate { $0.url == url || $0.label == "a" }) == [specimens[0], specimens[1]])
      #expect(try fetch(#Predicate { $0.url != url }) == [specimens[2]])
      #expect(try fetch(#Predicate { !($0.indexedURL == url) }) == [specimens[2]])
    }
  }
}
