import Foundation
import Testing
import Varve

private final class Holder {
  var count: Int = 0
  var name: String?
  var token = UUID()
}

@Suite struct AttributeDescriptionTests {
  @Test func `a key path tells type and optionality`() {
    let count = AttributeDescription("count", \Holder.count, .unique)
    #expect(count.type == .int64)
    #expect(!count.isOptional && count.isUnique && count.isIndexed)
    #expect(count.keyPath == \Holder.count)
    #expect(count.defaultValue == nil)
    let name = AttributeDescription("name", \Holder.name, .indexed)
    #expect(name.type == .string)
    #expect(name.isOptional && !name.isUnique && name.isIndexed)
  }

  @Test func `a default value is made anew each time`() throws {
    let attribute = AttributeDescription("token", \Holder.token, default: UUID())
    let makeDefault = try #require(attribute.defaultValue)
    let (first, second) = (makeDefault(), makeDefault())
    #expect(first.typeName == "a UUID")
    #expect(first != second)
  }

  @Test func `values by name are brought into the stored form or refused`() throws {
    let attribute = AttributeDescription("count", .uint8, isOptional: true)
    #expect(try attribute.checked(7) == .unsigned(7))
    #expect(try attribute.checked(.null) == .null)
    #expect { try attribute.checked(256) } throws: { error in
      let error = error as? PersistenceError
      return error?.code == .typeMismatch && error?.location.property == "count"
    }
    #expect { try AttributeDescription("count", .uint8).checked(.null) } throws: {
      ($0 as? PersistenceError)?.code == .missingValue
    }
  }
}
