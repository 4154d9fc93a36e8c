import Testing
import VarveLog

@testable import Varve

@Suite struct `Objects without a context` {
  @Test func `after its context an object reads its last values and its neighbours`() throws {
    let container = try GraphStore.open()
    var context: ManagedObjectContext? = container.newBackgroundContext()
    let (milk, shelf, unsaved) = try { (context: ManagedObjectContext) in
      let shelf = Shelf(in: context, name: "Top", house: House(in: context, name: "Home"))
      let milk = Food.make("Milk", in: context)
      milk.shelf = shelf
      try context.save()
      milk.name = "Cream"
      return (milk, shelf, Food.make("New", in: context))
    }(try #require(context))
    context = nil

    #expect(milk.context == nil && milk.isDetached && !milk.hasChanges)
    #expect(milk.name == "Cream")
    #expect(unsaved.name == "New")
    #expect(milk.shelf?.name == "Top")
    #expect(milk.shelf?.id == shelf.id)
    #expect(shelf.foods.map(\.id) == [milk.id])
    let error = #expect(throws: PersistenceError.self) { try milk.setValue("Quark", forName: "name") }
    #expect(error?.code == .detachedObject)
    #expect(milk.name == "Cream")
  }

  @Test func `after its context setting a property of an object traps`() async {
    await #expect(processExitsWith: .failure) {
      let milk = try {
        let context = try GraphStore.open().newBackgroundContext()
        return Food.make("Milk", in: context)
      }()
      milk.name = "Cream"
    }
  }

  @Test func `a context that is reset forgets its objects, which keep their values`() throws {
    let container = try GraphStore.open()
    let context = container.newBackgroundContext()
    let milk = Food.make("Milk", in: context)
    try context.save()
    milk.name = "Cream"
    let new = Food.make("New", in: context)
    context.reset()

    #expect(!context.hasChanges && context.registeredObjectCount == 0)
    #expect(milk.isDetached && milk.context == nil && new.isDetached)
    #expect(milk.name == "Cream" && new.name == "New")
    let again = try context.existingObject(with: milk.id)
    #expect(again !== milk && again.name == "Milk")
    #expect(throws: PersistenceError.self) { try context.delete(milk) }
  }

  @Test func `a context that is reset sees the newest state`() throws {
    let container = try GraphStore.open()
    let context = container.newBackgroundContext()
    let writer = container.newBackgroundContext()
    let milk = Food.make("Milk", in: writer)
    try writer.save()
    #expect(try context.findObject(with: milk.id) == nil)
    context.reset()
    #expect(try context.findObject(with: milk.id)?.name == "Milk")
  }

  @Test func `an object whose deletion was saved keeps its values and takes no more`() throws {
    let container = try GraphStore.open()
    let context = container.newBackgroundContext()
    let milk = Food.make("Milk", in: context)
    try context.save()
    try context.delete(milk)
    try context.save()
    #expect(!milk.isDeleted && milk.isDetached && !milk.hasChanges)
    #expect(milk.name == "Milk")
    #expect(try context.findObject(with: milk.id) == nil)
    #expect(throws: PersistenceError.self) { try milk.setValue("Cream", forName: "name") }
  }

  @Test func `dying contexts and objects leave nothing behind`() throws {
    let container = try GraphStore.open()
    weak var weakContext: ManagedObjectContext?
    weak var weakFood: Food?
    try {
      let context = container.newBackgroundContext()
      let shelf = Shelf(in: context, name: "Top", house: House(in: context, name: "Home"))
      let milk = Food.make("Milk", in: context)
      milk.shelf = shelf
      #expect(shelf.foods == [milk])
      try context.save()
      milk.name = "Cream"
      weakContext = context
      weakFood = milk
    }()
    #expect(weakContext == nil)
    #expect(weakFood == nil)
    #expect(container.coordinator.hub.listenerCount == 0)
  }
}
