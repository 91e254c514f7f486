export { corrupt, isCorrupt, STATE_FILE } from "./database.ts";
export { raiseRevision } from "./snapshot.ts";
export { SplitSource } from "./split.ts";
export { openStore } from "./store.ts";
export type { RecordCodec, Store, Stored, StoreEvent, StoreKey } from "./interface.ts";
