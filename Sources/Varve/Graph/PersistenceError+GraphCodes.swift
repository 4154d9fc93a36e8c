// The codes of the Graph and Isolation folders.

extension PersistenceError.Code {
  // MARK: Opening

  /// No store can be where it was to be: the path is empty, the URL leads to no file, or the folder takes no new ones.
  public static let invalidLocation = Self("invalidLocation")
  /// The folder in which the store was to be made does not exist.
  public static let missingParentFolder = Self("missingParentFolder")
  /// There is no store at the path, and none was to be made.
  public static let storeNotFound = Self("storeNotFound")
  /// The system does not let this process use the store.
  public static let permissionDenied = Self("permissionDenied")
  /// The device has no room left.
  public static let diskFull = Self("diskFull")
  /// Another process, or another container of this one, has the store open for writing.
  public static let locked = Self("locked")
  /// Bytes of the store are not what was written.
  public static let damaged = Self("damaged")
  /// What stands at the path is not a store.
  public static let notAStore = Self("notAStore")
  /// Reading or writing failed in another way; ``PersistenceError/cause`` says how.
  public static let storeFailure = Self("storeFailure")

  // MARK: Using a container

  /// The container is closed.
  public static let closed = Self("closed")
  /// The container was opened for reading only.
  public static let readOnly = Self("readOnly")
  /// Another program has changed the schema of a store that is followed: open the container again.
  public static let schemaChanged = Self("schemaChanged")
  /// An earlier write failed; the store takes no commits until it is opened again.
  public static let poisoned = Self("poisoned")
  /// What the context sees of the store is older, or keeps more from being given back, than the options allow. Save,
  /// merge or reset the context, and fetch again.
  public static let snapshotExpired = Self("snapshotExpired")
  /// The entity is not in the container's model.
  public static let unknownEntity = Self("unknownEntity")
  /// The ID or URI is one of another store.
  public static let foreignID = Self("foreignID")
  /// There is no object with that ID.
  public static let objectNotFound = Self("objectNotFound")
  /// The ID leads to an object of another class than the one asked for.
  public static let wrongClass = Self("wrongClass")

  // MARK: Changing objects

  /// Objects of two contexts were to be related.
  public static let differentContexts = Self("differentContexts")
  /// The object is no longer part of a context, so nothing can be changed in it or related to it.
  public static let detachedObject = Self("detachedObject")
  /// The object was deleted in this context, which is not saved, so nothing can be related to it.
  public static let deletedObject = Self("deletedObject")

  // MARK: Saving

  /// Objects are not as the model wants them; ``PersistenceError/details`` has one error for each property.
  public static let validationFailed = Self("validationFailed")
  /// Others changed what is to be saved; ``PersistenceError/conflicts`` says what.
  public static let conflict = Self("conflict")
  /// Both this context and others changed the property.
  public static let propertyConflict = Self("propertyConflict")
  /// Others deleted the object that was changed here.
  public static let deletedUpstream = Self("deletedUpstream")
  /// Others changed the object that was deleted here.
  public static let changedUpstream = Self("changedUpstream")
  /// Others deleted the object that a relationship was set to.
  public static let targetDeleted = Self("targetDeleted")
  /// Two objects have the same value in a unique attribute.
  public static let duplicateKey = Self("duplicateKey")
  /// A required relationship leads to an object that is deleted.
  public static let requiredRelationship = Self("requiredRelationship")
  /// The object was made while no serial number could be had, so that it can never be saved.
  public static let unsaveableObject = Self("unsaveableObject")
  /// Others committed so often that the save did not get its turn. Nothing was changed; try again.
  public static let contention = Self("contention")
}
