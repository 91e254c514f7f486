export { kmsClient, type KmsClient } from "./client.ts";
export { serveKms, type KmsServer, type KmsServerOptions } from "./server.ts";
export { LARGEST_FIELD, type Annotations, type Encrypted, type KmsService, type KmsStatus } from "./service.ts";
