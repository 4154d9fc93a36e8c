extension Schema {
  /// Checks everything that the readers of rows and the planner of indexes rely on.
  ///
  /// 1. Entity numbers are unique and not 0; names are unique and proper.
  /// 2. The slots of an entity are exactly 0 to n-1, one for each attribute and to-one relationship.
  /// 3. Index numbers are unique and not 0; every unique attribute and every to-one relationship has one.
  /// 4. Every relationship leads to an entity of the schema; every to-many one has a to-one inverse that leads back.
  package func validate() throws(PersistenceError) {
    var numbers: Set<UInt16> = []
    var names: Set<String> = []
    var indexes: Set<UInt16> = []
    try check(version >= 1, "its version is \(version)")
    try check(entities.count <= Limits.entityCount, "it has \(entities.count) entities")
    for entity in entities {
      try check(entity.number > 0 && numbers.insert(entity.number).inserted, "entity number \(entity.number) is taken")
      try check(names.insert(entity.name).inserted, "there are two entities named \(entity.name)")
      try check(Limits.reasonAgainst(name: entity.name) == nil, "an entity has an improper name")
      try validate(entity)
      for index in entity.attributes.compactMap(\.index) + entity.relationships.compactMap(\.index) {
        try check(index > 0 && indexes.insert(index).inserted, "index number \(index) is taken")
      }
    }
    for entity in entities {
      for relationship in entity.relationships { try validate(relationship, of: entity) }
    }
  }

  private func validate(_ entity: Entity) throws(PersistenceError) {
    var names: Set<String> = []
    let properties = entity.attributes.count + entity.relationships.count
    try check(properties <= Limits.propertyCount, "\(entity.name) has \(properties) properties")
    for name in entity.attributes.map(\.name) + entity.relationships.map(\.name) {
      try check(names.insert(name).inserted, "\(entity.name) has two properties named \(name)")
      try check(Limits.reasonAgainst(name: name) == nil, "a property of \(entity.name) has an improper name")
    }
    try check(
      entity.layoutVersion >= 1 && entity.layoutVersion <= Limits.layoutVersion,
      "\(entity.name) has the layout version \(entity.layoutVersion)")
    let slots = entity.attributes.map(\.slot) + entity.relationships.compactMap(\.slot)
    try check(slots.sorted() == Array(0..<slots.count), "the slots of \(entity.name) have gaps")
    for attribute in entity.attributes {
      try check(attribute.type != .reference, "the attribute \(entity.name).\(attribute.name) is a reference")
      try check(!attribute.isUnique || attribute.index != nil, "\(entity.name).\(attribute.name) has no index")
    }
  }

  private func validate(_ relationship: Relationship, of entity: Entity) throws(PersistenceError) {
    let path = "\(entity.name).\(relationship.name)"
    guard let target = self.entity(named: relationship.target) else {
      throw Schema.corrupt("\(path) leads to \(relationship.target), which is not there")
    }
    let isStored = relationship.kind == .toOne
    try check(
      (relationship.slot != nil) == isStored && (relationship.index != nil) == isStored, "\(path) is half stored")
    guard let inverseName = relationship.inverse else {
      return try check(isStored, "\(path) has no inverse")
    }
    guard let inverse = target.relationships.first(where: { $0.name == inverseName }) else {
      throw Schema.corrupt("the inverse of \(path) is not there")
    }
    try check(inverse.target == entity.name && inverse.kind != relationship.kind, "the inverse of \(path) is none")
    try check(inverse.inverse == relationship.name, "the inverse of \(path) does not lead back")
  }

  private func check(_ isTrue: Bool, _ reason: @autoclosure () -> String) throws(PersistenceError) {
    if !isTrue { throw Schema.corrupt(reason()) }
  }

  static func corrupt(_ reason: String, cause: (any Error)? = nil) -> PersistenceError {
    PersistenceError(
      .corruptSchema, "The schema of the store cannot be right: \(reason). Run `varve verify` on the store.",
      cause: cause)
  }
}
