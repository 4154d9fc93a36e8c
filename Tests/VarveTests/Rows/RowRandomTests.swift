import Testing
import Varve
import VarveLog

/// Random layouts and edits against a dictionary: whatever was set comes back, whatever was not set stays.
@Suite struct RowRandomTests {
  private struct Sample {
    let attributes: [AttributeDescription]
    let layout: RowLayout

    init(_ values: inout ValueGenerator) throws {
      let count = values.below(20)
      var attributes: [AttributeDescription] = []
      for number in 0..<count {
        attributes.append(
          AttributeDescription("a\(number)", values.attributeType(), isOptional: values.below(2) == 0))
      }
      self.attributes = attributes
      let order = values.below(2) == 0 ? nil : attributes.map(\.name).shuffled(using: &values.random)
      layout = try Samples.layout(attributes, order: order)
    }

    func value(_ slot: Int, _ values: inout ValueGenerator) -> PropertyValue {
      let field = layout.fields[slot]
      return field.isOptional && values.below(3) == 0 ? .null : values.value(field.type)
    }
  }

  @Test(arguments: 1...40)
  func `edits over rows give what a dictionary gives`(seed: UInt64) throws {
    var values = ValueGenerator(seed: seed)
    let sample = try Sample(&values)
    let slots = sample.layout.fields.indices
    var expected = slots.map { sample.value($0, &values) }
    var row = try sample.layout.row(expected)
    var builder = RowBuilder()
    for step in 0..<50 {
      #expect(try sample.layout.values(row) == expected, "seed \(seed), step \(step)")
      var edits = RowEdits()
      for slot in slots where values.below(4) == 0 {
        let value = sample.value(slot, &values)
        edits[slot] = value
        expected[slot] = value
      }
      let base = row
      row = try unsafe sample.layout.withReader(base.span.bytes) { reader in
        unsafe try builder.build(sample.layout, edits: edits, over: reader)
      }
      // A row says nothing about how it came to be.
      #expect(try row == sample.layout.row(expected), "seed \(seed), step \(step)")
    }
  }

  @Test(arguments: 1...20)
  func `the order of slots makes no difference to the bytes`(seed: UInt64) throws {
    var values = ValueGenerator(seed: seed)
    let attributes = (0..<12).map { AttributeDescription("a\($0)", values.attributeType(), isOptional: true) }
    let order = attributes.map(\.name).shuffled(using: &values.random)
    let (plain, shuffled) = (try Samples.layout(attributes), try Samples.layout(attributes, order: order))
    let expected = plain.fields.map { values.value($0.type) }
    let byName = Dictionary(uniqueKeysWithValues: zip(plain.names, expected))
    let row = try plain.row(expected)
    #expect(try shuffled.row(order.compactMap { byName[$0] }) == row, "seed \(seed)")
    #expect(try shuffled.values(row) == order.compactMap { byName[$0] }, "seed \(seed)")
  }
}
