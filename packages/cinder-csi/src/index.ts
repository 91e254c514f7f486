export { Clouds, type BlockStorageOptions, type StorageCloud } from "./clouds.ts";
export { createController, type ControllerOptions } from "./controller/controller.ts";
export { createGroupController } from "./controller/group-controller.ts";
export { createIdentity, type IdentityOptions } from "./identity.ts";
export { createNode, type NodeOptions } from "./node/node.ts";
export { parseDriverConfig, parseNamedCloud, type DriverConfig } from "./config.ts";
export { startDriver, type DriverOptions, type RunningDriver } from "./driver.ts";
export { IN_TREE_PROVISIONER, translateStorageClass, translateVolume } from "./in-tree.ts";
export { onlyOwn, type Ownership } from "./controller/ownership.ts";
