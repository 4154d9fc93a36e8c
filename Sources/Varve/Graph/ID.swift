import VarveLog

/// The ID of an object whose class is known, so that looking it up gives the object in its type.
///
/// ```swift
/// let id: ID<Food> = milk.id
/// let milk = try otherContext.existingObject(with: id)     // a Food
/// ```
public struct ID<Object: ManagedObject>: Hashable, Sendable {
  /// The same without the type.
  public let objectID: ObjectID

  /// Gives an ID the type of the object that it leads to. Nothing is looked up; a wrong type is found out where the
  /// ID is used.
  public init(_ objectID: ObjectID) { self.objectID = objectID }
}

extension ID: Comparable {
  /// Orders as ``ObjectID`` does.
  public static func < (left: ID, right: ID) -> Bool { left.objectID < right.objectID }
}

extension ID: Codable {
  /// Decodes what ``ObjectID`` encodes.
  public init(from decoder: any Decoder) throws { objectID = try ObjectID(from: decoder) }
  /// Encodes as ``ObjectID`` does.
  public func encode(to encoder: any Encoder) throws { try objectID.encode(to: encoder) }
}

extension ID: CustomStringConvertible {
  /// The class and the serial, as in `Food/17`.
  public var description: String { "\(Object.self)/\(objectID.record.serial)" }
}

/// What every managed object is, so that ``id`` can be of the object's own type. Conform to it by subclassing
/// ``ManagedObject``, never by yourself.
public protocol IdentifiedObject: Identifiable {}

extension IdentifiedObject where Self: ManagedObject {
  /// The object's ID: permanent, and the only thing that may leave the context.
  public var id: Varve.ID<Self> { Varve.ID(objectID) }
}

extension ManagedObject: IdentifiedObject {
  /// The same as outside of the class. Without it the bare name would mean what `Identifiable` calls so, which is fixed
  /// for all subclasses, and nobody could write `ID<Food>` within `Food`.
  public typealias ID<Object: ManagedObject> = Varve.ID<Object>
  /// What generic code over `Identifiable` sees.
  @_implements(Identifiable,ID)
  public typealias IdentifiableID = Varve.ID<ManagedObject>
}
