/** Ports of loopback that nobody listens on now; no two are the same. */
export declare function freePorts(count: number): Promise<number[]>;
export declare function freePort(): Promise<number>;
