import { backoff } from "@causeway/foundation";

/** Milliseconds; the sidecars give a call three minutes. The next call continues to wait. */
export const LONGEST_CALL = 170_000;

/** Pauses (ms) between two reads of an object that has no informer, by their number. */
export const readPauses = (): ((count: number) => number) => backoff({ base: 250, cap: 5_000, factor: 1.3 });
