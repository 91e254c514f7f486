export { openStore } from "./store.ts";
export type { Store, Stored, StoreEvent, StoreKey } from "./interface.ts";
