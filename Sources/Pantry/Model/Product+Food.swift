import Varve

extension Product {
  /// Copies an object, so that it can be kept, compared and taken elsewhere.
  ///
  /// - Throws: ``Problem`` when the store holds what no program of this kind writes.
  init(_ food: Food) throws(Problem) {
    self.init(
      barcode: try Barcode(food.barcode), name: food.name, category: food.category, expiryDate: food.expiryDate,
      isOpened: food.isOpened, shelf: food.shelf?.name, creationDate: food.creationDate)
  }

  /// Makes an object of the value.
  func makeFood(in context: ManagedObjectContext) throws -> Food {
    let food = Food(
      in: context, barcode: barcode.digits, name: name, category: category, creationDate: creationDate)
    try copy(to: food, in: context)
    return food
  }

  /// Gives an object all that the value says, except for the date of its creation. What is equal already is no change.
  func copy(to food: Food, in context: ManagedObjectContext) throws {
    food.name = name
    food.category = category
    food.expiryDate = expiryDate
    food.isOpened = isOpened
    food.shelf = try shelf.map { try Shelf.named($0, in: context) }
  }
}

extension Shelf {
  /// The shelf of a name, made if there is none.
  static func named(_ name: String, in context: ManagedObjectContext) throws -> Shelf {
    try context.fetch(FetchRequest<Shelf>(where: \.name == name, limit: 1)).first ?? Shelf(in: context, name: name)
  }
}

extension Food {
  /// The food with a barcode. Looked up in the index of the attribute.
  static func with(_ barcode: Barcode, in context: ManagedObjectContext) throws -> Food? {
    try context.fetch(FetchRequest<Food>(where: \.barcode == barcode.digits, limit: 1)).first
  }
}
