export { openStore } from "./store.ts";
export type { RecordCodec, Store, Stored, StoreEvent, StoreKey } from "./interface.ts";
