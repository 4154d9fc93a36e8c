import Foundation
import Testing
import Varve

@Suite struct `Objects` {
  @Test func `what is saved is read by another context`() throws {
    let container = try GraphStore.open()
    let writer = container.newBackgroundContext()
    let milk = Food(in: writer, category: .dairy, name: "Milk")
    milk.barcode = "4006381333931"
    milk.expiryDate = Date(timeIntervalSinceReferenceDate: 700_000_000.25)
    try writer.save()

    let reader = container.newBackgroundContext()
    let read = try reader.existingObject(with: milk.id)
    #expect(read !== milk)
    #expect(read.name == "Milk")
    #expect(read.barcode == "4006381333931")
    #expect(read.category == .dairy)
    #expect(read.expiryDate == Date(timeIntervalSinceReferenceDate: 700_000_000.25))
    #expect(!read.isOpened)
    #expect(read.shelf == nil)
  }
}
