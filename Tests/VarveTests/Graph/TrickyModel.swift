import Foundation
import Varve
import VarveLog

/// An object with an attribute of every type, plain, indexed and unique: for values that are equal in one way and
/// different in another.
@Entity final class Specimen: ManagedObject {
  var label = ""
  var bool: Bool?
  @Attribute(.indexed) var indexedBool: Bool?
  var integer: Int?
  @Attribute(.indexed) var indexedInteger: Int?
  var byte: UInt8?
  @Attribute(.indexed) var indexedByte: UInt8?
  var float: Float?
  @Attribute(.indexed) var indexedFloat: Float?
  var double: Double?
  @Attribute(.indexed) var indexedDouble: Double?
  var decimal: Decimal?
  @Attribute(.indexed) var indexedDecimal: Decimal?
  var text: String?
  @Attribute(.indexed) var indexedText: String?
  var date: Date?
  @Attribute(.indexed) var indexedDate: Date?
  var uuid: UUID?
  @Attribute(.indexed) var indexedUUID: UUID?
  var data: Data?
  @Attribute(.indexed) var indexedData: Data?
  var url: URL?
  @Attribute(.indexed) var indexedURL: URL?
  @Attribute(.unique) var uniqueFloat: Float?
  @Attribute(.unique) var uniqueDouble: Double?
  @Attribute(.unique) var uniqueDecimal: Decimal?
  @Attribute(.unique) var uniqueText: String?
  @Attribute(.unique) var uniqueDate: Date?
  @Attribute(.unique) var uniqueData: Data?
  @Attribute(.unique) var uniqueURL: URL?
}

/// Values of each type among which some are equal for Swift and stored differently, some the other way round, and some
/// are not even equal to themselves.
enum Tricky {
  static let bools = [false, true]
  static let integers = [0, -1, .min, .max]
  static let bytes: [UInt8] = [0, 255]
  static let floats: [Float] = [0, -0.0, .nan, -.nan, .infinity, 1.5]
  static let doubles: [Double] = [0, -0.0, .nan, -.nan, Double(nan: 7, signaling: false), -.infinity, 0.1]
  static let decimals: [Decimal] = [0, 1, Decimal(string: "1.0") ?? 1, .nan, Decimal(string: "-12.50") ?? 0]
  static let texts = [
    "", "é", "e\u{301}", "e", "\u{212B}", "Å", long, long + "e\u{301}", long + "é", "\u{0}",
  ]
  static let dates = [0, -0.0, .nan, -.nan, 1].map { Date(timeIntervalSinceReferenceDate: $0) }
  static let uuids = [UUID(), UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))]
  static let datas = [Data(), Data([0]), Data(repeating: 7, count: 600), Data([1, 2, 3])[1...]]
  static let urls = [
    URL(filePath: "notes.txt"), URL(filePath: "notes.txt").absoluteURL, URL(filePath: "notes.txt/"),
    URL(string: "HTTP://example.org"), URL(string: "http://example.org"),
    URL(string: "../a?b#c", relativeTo: URL(string: "http://example.org/x/y")),
    URL(string: "http://example.org/a?b#c"), URL(string: "http://example.org/" + long), URL(string: "?"),
  ].compactMap { $0 }

  /// So long that its key is cut.
  private static let long = String(repeating: "long ", count: 200).replacing(" ", with: "-")

  /// The values in the form in which they are given by name, by the attribute.
  static let values: [(attribute: String, values: [PropertyValue])] = [
    ("bool", bools.map(\.propertyValue)), ("integer", integers.map(\.propertyValue)),
    ("byte", bytes.map(\.propertyValue)), ("float", floats.map(\.propertyValue)),
    ("double", doubles.map(\.propertyValue)), ("decimal", decimals.map(\.propertyValue)),
    ("text", texts.map(\.propertyValue)), ("date", dates.map(\.propertyValue)), ("uuid", uuids.map(\.propertyValue)),
    ("data", datas.map(\.propertyValue)), ("url", urls.map { .url($0) }),
  ]

  static func open() throws -> PersistentContainer {
    try PersistentContainer.open(
      path: "tricky.varve", model: Model([Specimen.self]), fileSystem: MemoryFileSystem())
  }
}
