import Foundation
import Testing
import VarveLog

@testable import Varve

/// What is a change, and what is a conflict, is decided by the bytes that a row holds. The test builds rows itself to
/// know which values those are.
@Suite struct `Values that are stored alike` {
  static let attributes = Tricky.values.map(\.attribute)

  let container: PersistentContainer
  let mine: ManagedObjectContext
  let theirs: ManagedObjectContext

  init() throws {
    container = try Tricky.open()
    mine = container.newBackgroundContext()
    theirs = container.newBackgroundContext()
  }

  private func values(of attribute: String) throws -> [PropertyValue] {
    [.null] + (try #require(Tricky.values.first { $0.attribute == attribute }).values)
  }

  /// The bytes of a row in which an attribute has a value.
  private func row(_ attribute: String, _ value: PropertyValue) throws -> [UInt8] {
    let entity = try #require(container.coordinator.model.entity(named: "Specimen"))
    guard case .attribute(let slot)? = entity.property(named: attribute) else { return [] }
    var edits = RowEdits()
    edits[0] = "label"
    edits[slot] = value
    var builder = RowBuilder()
    return unsafe try builder.build(entity.layout, edits: edits, over: nil)
  }

  private func stored(_ specimen: Specimen, _ attribute: String) throws -> [UInt8] {
    let read = try container.newBackgroundContext().existingObject(with: specimen.id)
    return try row(attribute, read.value(forName: attribute))
  }

  @Test(arguments: attributes) func `are no change of each other, and all others are`(attribute: String) throws {
    let specimen = Specimen(in: mine)
    for (old, new) in try pairs(attribute) {
      specimen[attribute] = old
      try mine.save()
      #expect(!mine.hasChanges)
      specimen[attribute] = new
      let isChange = try row(attribute, old) != row(attribute, new)
      #expect(mine.hasChanges == isChange, "\(attribute) from \(old.jsonText) to \(new.jsonText)")
      // Back, and there again.
      specimen[attribute] = old
      #expect(!mine.hasChanges, "\(attribute) back to \(old.jsonText) from \(new.jsonText)")
      specimen[attribute] = new
      specimen[attribute] = new
      try mine.save()
      #expect(
        try stored(specimen, attribute) == row(attribute, new), "\(attribute) from \(old.jsonText) to \(new.jsonText)")
    }
  }

  /// Others change another property of the object meanwhile.
  @Test(arguments: attributes, [false, true])
  func `do not become a conflict by themselves`(attribute: String, merges: Bool) throws {
    let specimen = Specimen(in: mine)
    try mine.save()
    theirs.mergePending()
    let other = try theirs.existingObject(with: specimen.id)
    for (number, (old, new)) in try pairs(attribute).enumerated() {
      specimen[attribute] = old
      try mine.save()
      theirs.mergePending()
      specimen[attribute] = new
      other.label = "\(number)"
      try theirs.save()
      if merges { mine.mergePending() }
      #expect(specimen.contendedProperties == [])
      try mine.save()
      // Without a change the save was none.
      mine.mergePending()
      #expect(specimen.label == "\(number)")
      #expect(
        try stored(specimen, attribute) == row(attribute, new), "\(attribute) from \(old.jsonText) to \(new.jsonText)")
      theirs.mergePending()
    }
  }

  @Test(arguments: attributes, [false, true])
  func `are no conflict when two contexts set them, and all others are`(attribute: String, merges: Bool) throws {
    let specimen = Specimen(in: mine)
    try mine.save()
    theirs.mergePending()
    let other = try theirs.existingObject(with: specimen.id)
    let values = try values(of: attribute)
    for (old, first) in try pairs(attribute) {
      for second in values {
        specimen[attribute] = old
        try mine.save()
        theirs.mergePending()
        other[attribute] = first
        other.label += "x"
        try theirs.save()
        specimen[attribute] = second
        if merges { mine.mergePending() }
        let rows = try [old, first, second].map { try row(attribute, $0) }
        let isConflict = rows[1] != rows[0] && rows[2] != rows[0] && rows[1] != rows[2]
        let comment: Comment = "\(attribute) from \(old.jsonText) to \(first.jsonText) and to \(second.jsonText)"
        let found = try conflictingNames()
        #expect(found == (isConflict ? [attribute] : []), comment)
        if isConflict {
          mine.rollback()
          mine.mergePending()
        }
        let expected = isConflict || rows[2] == rows[0] ? rows[1] : rows[2]
        #expect(try stored(specimen, attribute) == expected, comment)
        theirs.mergePending()
      }
    }
  }

  /// What a save of mine is in conflict about. Not by `#expect(throws:)`: it looks into the error, and Foundation ends
  /// the process when it is asked for the text of a date that is no number.
  private func conflictingNames() throws -> [String] {
    do {
      try mine.save()
      return []
    } catch let error as PersistenceError where error.code == .conflict {
      return error.conflicts.flatMap { $0.properties.map(\.name) }
    }
  }

  /// All pairs of values of an attribute.
  private func pairs(_ attribute: String) throws -> [(PropertyValue, PropertyValue)] {
    let values = try values(of: attribute)
    return values.flatMap { left in values.map { (left, $0) } }
  }
}

/// A unique attribute compares keys: those of values that Swift tells apart may be the same, and the other way round.
@Suite struct `Values of one key` {
  /// Attribute, the value that is there, and the one that does not go with it.
  static let pairs: [(String, PropertyValue, PropertyValue)] = [
    ("uniqueFloat", .double(.nan), .double(-.nan)), ("uniqueFloat", 0.0, -0.0),
    ("uniqueDouble", .double(.nan), .double(.nan)), ("uniqueDouble", .double(-.nan), .double(.nan)),
    ("uniqueDouble", 0.0, -0.0), ("uniqueDecimal", .decimal(.nan), .decimal(.nan)),
    ("uniqueDecimal", .decimal(1), .decimal(Decimal(string: "1.0") ?? 1)), ("uniqueText", "é", "e\u{301}"),
    ("uniqueText", .string(long), .string(long)), ("uniqueText", .string(long + "é"), .string(long + "e\u{301}")),
    ("uniqueDate", date(.nan), date(.nan)), ("uniqueDate", date(0), date(-0.0)),
    ("uniqueData", .data(Data(long.utf8)), .data(Data(long.utf8))),
    ("uniqueURL", .url(URL(filePath: "notes.txt")), .url(URL(filePath: "notes.txt").absoluteURL)),
    ("uniqueURL", .url(URL(filePath: "/" + long)), .url(URL(filePath: "/" + long))),
  ]
  private static let long = String(repeating: "x", count: 700)

  private static func date(_ time: TimeInterval) -> PropertyValue { .date(Date(timeIntervalSinceReferenceDate: time)) }

  @Test(arguments: pairs.indices, [false, true])
  func `are refused in a unique attribute, naming who has it and who wants it`(number: Int, isSaved: Bool) throws {
    let (attribute, value, same) = Self.pairs[number]
    let context = try Tricky.open().newBackgroundContext()
    let holder = Specimen(in: context)
    holder[attribute] = value
    if isSaved { try context.save() }
    let wanting = Specimen(in: context)
    wanting[attribute] = same
    let free = Specimen(in: context)
    let error = try #require(#expect(throws: PersistenceError.self) { try context.save() })
    #expect(error.code == .duplicateKey && error.location.property == attribute)
    let named = Set(error.details.map(\.location.record))
    #expect(named == [wanting.record] || !isSaved && named == [holder.record])
    #expect(error.message.contains("\(holder)") && error.message.contains("\(wanting)"))
    context.discard(objectsOf: error)
    try context.save()
    #expect(try context.count(Specimen.fetchRequest()) == 2)
    #expect(!free.isInserted)
  }
}
