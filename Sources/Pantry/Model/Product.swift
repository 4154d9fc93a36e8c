import Foundation

/// One thing in the pantry as a value: what lists show, files hold and tests compare.
struct Product: Equatable, Sendable {
  var barcode: Barcode
  var name: String
  var category: Category
  var expiryDate: Date?
  var isOpened = false
  /// The name of the shelf that it stands on.
  var shelf: String?
  var creationDate: Date
}
