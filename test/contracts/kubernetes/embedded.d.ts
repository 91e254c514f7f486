import type { Target } from "./interface.ts";
/** Our own API server, all in memory but for what it records. */
export declare function startEmbedded(): Promise<Target>;
