// An application imports only KalijClient: all of KalijFeatures and KalijCore, and the types that their declarations use.
@_exported import struct KalijAddress.JID
@_exported import struct KalijAddress.XMPPURI
@_exported import KalijEngine
@_exported import KalijFeatures
@_exported import enum KalijFiles.FileCopy
@_exported import struct KalijFiles.FileError
@_exported import protocol KalijHandlers.Handler
@_exported import struct KalijHandlers.HandlerError
@_exported import protocol KalijHandlers.InvalidatableHandler
@_exported import struct KalijHandlers.Invalidation
@_exported import KalijCore
@_exported import struct KalijStore.Migration
@_exported import struct KalijStore.Row
@_exported import struct KalijStore.StoreError
@_exported import enum KalijStore.Value
@_exported import struct KalijStream.DiscoveryInfo
@_exported import enum KalijStream.RegistrationError
@_exported import struct KalijStream.RegistrationForm
@_exported import struct KalijStream.StanzaError
@_exported import struct KalijText.PrintedText
@_exported import struct KalijXML.DataForm
@_exported import struct KalijXML.Element
