import Varve

/// What kind of food something is. The raw values are what stores and files hold.
enum Category: String, CaseIterable, AttributeValue {
  case dairy, meat, fish, produce, bakery, staples, drinks, sweets

  /// What a person reads.
  var name: String {
    switch self {
    case .dairy: "milk, cheese and eggs"
    case .meat: "meat and sausages"
    case .fish: "fish and seafood"
    case .produce: "fruit and vegetables"
    case .bakery: "bread and dough"
    case .staples: "staples and tins"
    case .drinks: "drinks"
    case .sweets: "sweets"
    }
  }
}
