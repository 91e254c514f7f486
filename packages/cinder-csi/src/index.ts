export { Clouds, type BlockStorageOptions, type StorageCloud } from "./clouds.ts";
export { createController, type ControllerOptions } from "./controller/controller.ts";
export { createIdentity, type IdentityOptions } from "./identity.ts";
export { translate } from "./translate.ts";
export { linuxHost, type CommandResult, type Host } from "./node/host.ts";
export { deviceFromMetadata, readMetadata, type MetadataOptions, type ServerMetadata } from "./node/metadata.ts";
export { createNode, type NodeOptions } from "./node/node.ts";
