import Testing
import Varve

@testable import VarveExpansion

@Suite struct ReservedNameTests {
  @Test func `the macro and the model refuse the same names`() {
    #expect(EntityShape.reservedPropertyNames == ModelValidator.reservedPropertyNames)
    #expect(EntityShape.reservedPropertyNames.contains("objectID"))
  }
}
