public import Foundation
import VarveLog

extension PersistentContainer {
  /// An ID in a form for people and other programs: `varve://store-UUID/Entity/serial`.
  ///
  /// - Throws: ``PersistenceError`` with the code `foreignID` for an ID of another store, or `unknownEntity`.
  public func uri(for id: ObjectID) throws -> URL {
    guard id.storeTag == coordinator.storeTag else { throw foreign(id.encodedText) }
    guard let entity = coordinator.knownEntity(of: id.record),
      let url = URL(string: "varve://\(coordinator.store.uuid)/\(entity.name)/\(id.record.serial)")
    else {
      throw PersistenceError(
        .unknownEntity, "The ID \(id) belongs to no entity of the container's model.", at: .init(record: id.record))
    }
    return url
  }

  /// The ID that ``uri(for:)`` has written. Whether there is such an object is not asked.
  ///
  /// - Throws: ``PersistenceError`` with the code `foreignID` for a URI of another store or of another form, or
  ///   `unknownEntity`.
  public func objectID(for uri: URL) throws -> ObjectID {
    let parts = uri.path(percentEncoded: false).split(separator: "/", omittingEmptySubsequences: false)
    guard uri.scheme == "varve", let host = uri.host(percentEncoded: false), let uuid = StoreUUID(host),
      uuid == coordinator.store.uuid, parts.count == 3, parts[0].isEmpty, let serial = UInt64(parts[2]),
      serial <= RecordID.serialMax
    else { throw foreign(uri.absoluteString) }
    guard let entity = coordinator.model.entity(named: String(parts[1])) else {
      throw PersistenceError(
        .unknownEntity, "The URI \(uri.absoluteString) names the entity \(parts[1]), which the model does not have.",
        at: .init(entity: String(parts[1])))
    }
    return ObjectID(record: RecordID(entity: entity.number, serial: serial), storeTag: coordinator.storeTag)
  }

  private func foreign(_ text: String) -> PersistenceError {
    PersistenceError(
      .foreignID, "\(text) is no object of the store \(path).", at: .init(path: path))
  }
}
