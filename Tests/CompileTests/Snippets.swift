/// The model that all snippets use. Their own text begins in the line after it, so lines are counted from there.
enum Snippets {
  static let model = #"""
    import Foundation
    import Varve

    enum Category: String, CaseIterable, AttributeValue { case dairy, meat }

    @Entity final class Food: ManagedObject {
      @Attribute(.unique) var barcode: String
      @Attribute(.indexed) var category: Category
      var name: String
      var expiryDate: Date?
      var isOpened = false
      var token = UUID()
      @Relationship(deleteRule: .nullify, inverse: \Shelf.foods) var shelf: Shelf?
      var label: String { "\(name) (\(barcode))" }
    }

    @Entity final class Shelf: ManagedObject {
      var name: String
      @Relationship var foods: Set<Food>
    }

    """#

  /// The number of lines of the model.
  static let modelLineCount = model.split(separator: "\n", omittingEmptySubsequences: false).count - 1
}
