/** Ports of loopback that are free now; no two are the same. */
export declare function freePorts(count: number): Promise<number[]>;
export declare function freePort(): Promise<number>;
