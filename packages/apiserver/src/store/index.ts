export { openStore } from "./store.ts";
export type { ListPage, Store, Stored, StoreEvent, StoreKey, StoreOptions } from "./interface.ts";
