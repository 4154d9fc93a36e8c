// The codes of the Model and Rows folders. Other folders add their own in the same way.

extension PersistenceError.Code {
  // MARK: The model as a whole

  /// The model breaks at least one rule; ``PersistenceError/details`` has one error for each breach.
  public static let invalidModel = Self("invalidModel")
  /// The store was made with a different model; ``PersistenceError/details`` has one error for each difference.
  public static let modelMismatch = Self("modelMismatch")

  // MARK: Rules of the model, and differences between model and store

  /// Two entities, or two properties of one entity, have the same name.
  public static let duplicateName = Self("duplicateName")
  /// A name is empty, too long, or not an identifier.
  public static let invalidName = Self("invalidName")
  /// A name is taken by ``ManagedObject`` itself.
  public static let reservedName = Self("reservedName")
  /// A relationship leads to an entity that is not in the model.
  public static let unknownTarget = Self("unknownTarget")
  /// A to-many relationship has no to-one relationship on the other side that could store it.
  public static let missingInverse = Self("missingInverse")
  /// The two sides of a relationship do not name each other.
  public static let wrongInverse = Self("wrongInverse")
  /// A model uses something that this version of Varve does not support.
  public static let notSupported = Self("notSupported")
  /// A limit of ``Schema/Limits`` was exceeded.
  public static let limitExceeded = Self("limitExceeded")
  /// A default value does not fit its attribute.
  public static let invalidDefault = Self("invalidDefault")
  /// A class does not describe itself: it lacks `@Entity`, or overrides what `@Entity` writes.
  public static let invalidEntityClass = Self("invalidEntityClass")
  /// The store has an entity or a property that the model lacks.
  public static let missingInModel = Self("missingInModel")
  /// The model has an entity or a property that the store lacks.
  public static let missingInStore = Self("missingInStore")
  /// A property is one thing in the model and another in the store.
  public static let differentProperty = Self("differentProperty")

  // MARK: Bytes

  /// The bytes of a row do not fit its layout, or a value in it cannot be.
  public static let corruptRow = Self("corruptRow")
  /// The bytes of a schema record cannot be.
  public static let corruptSchema = Self("corruptSchema")
  /// The bytes were written by a newer version of Varve.
  public static let newerFormat = Self("newerFormat")

  // MARK: Values

  /// A stored value is none that the property's type has: an enumeration without a case for it, for example. Not
  /// corruption: another version of the program wrote it.
  public static let unknownRawValue = Self("unknownRawValue")
  /// A value of one type was given to a property of another, or does not fit into its range.
  public static let typeMismatch = Self("typeMismatch")
  /// A required property has no value.
  public static let missingValue = Self("missingValue")
  /// There is no property of that name.
  public static let unknownProperty = Self("unknownProperty")
}
