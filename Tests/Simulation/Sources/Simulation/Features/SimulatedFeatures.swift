/// All features of the simulator. A new feature is a folder and a line here.
enum SimulatedFeatures {
    static let all: [any SimulatedFeature.Type] = [
        SimulatedRoom.self,
        SimulatedCallbacks.self,
        SimulatedDiscovery.self,
        SimulatedArchive.self,
        SimulatedCarbons.self,
        SimulatedTime.self,
        SimulatedPing.self,
        SimulatedContacts.self,
        SimulatedPresence.self,
        SimulatedMessages.self,
        SimulatedNotifications.self,
        SimulatedReceipts.self,
        SimulatedOperations.self,
        SimulatedNodes.self,
        SimulatedReading.self,
        SimulatedBlocking.self,
        SimulatedRegistration.self,
        SimulatedEvents.self,
        SimulatedSearch.self,
        SimulatedProfiles.self,
        SimulatedGarden.self,
        SimulatedBookmarks.self,
        SimulatedPush.self,
        SimulatedOMEMO.self,
    ]
}
